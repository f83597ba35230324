// Payloads become chunks: compressed where that makes them smaller, and sealed. Allocates nothing.
#pragma once

#include <cstddef>

#include "format/chunk.h"

struct ZSTD_CCtx_s;

namespace tare::format {

// Bytes that a caller owns.
struct Bytes {
  const void* data;
  std::size_t size;
};

// Bytes of a payload as it is stored, at the most: of `raw` bytes that are compressed, and `dense` ones that are not.
// The first term is zstd's ZSTD_COMPRESSBOUND, the second a frame with its block headers.
constexpr std::size_t chunk_payload_bound(std::size_t raw, std::size_t dense) {
  const std::size_t small = std::size_t{128} * 1024;
  const std::size_t compressed = raw + (raw >> 8) + (raw < small ? (small - raw) >> 11 : 0);
  return compressed + dense + 9 + 3 * (dense / small + 1);
}

// Bytes of a chunk without dense ones, at the most.
std::size_t chunk_bound(std::size_t raw_bytes) noexcept;

// Scratch memory that compression needs, 8-byte aligned.
std::size_t chunk_context_bytes() noexcept;

// A compression context in `memory` of chunk_context_bytes(). nullptr if zstd wants more than it estimated: chunks are
// then stored uncompressed.
ZSTD_CCtx_s* make_chunk_context(void* memory) noexcept;

// How long compression may take. `little`: without Huffman codes, and with a table that fits into the first cache. For
// raw bytes that are few beside the dense ones, it makes a chunk 1 % larger.
enum class Effort { usual, little };

// Puts a chunk at `out`, which has room for a header and chunk_payload_bound(raw.size, dense.size); returns its size.
// `identity` gives all of the header but compression and sizes. `dense` follows `raw` in the payload; it is known that
// compression cannot make it smaller. Without a context the payload is stored as it is.
std::size_t write_chunk(ZSTD_CCtx_s* context, Effort effort, const ChunkHeader& identity, Bytes raw, Bytes dense,
                        char* out) noexcept;

// The same with a context made for this chunk alone, in `scratch` of chunk_context_bytes(), or none.
std::size_t make_chunk(const ChunkHeader& identity, const void* raw, std::size_t bytes, char* out,
                       void* scratch) noexcept;

}  // namespace tare::format
