// Makes chunks of payloads: compresses them where that makes them smaller, and computes the checksums. Allocates
// nothing.
#pragma once

#include <cstddef>

#include "format/chunk.h"

struct ZSTD_CCtx_s;

namespace tare::format {

// Bytes of the caller.
struct ByteView {
  const void* data;
  std::size_t size;
};

// The largest size of a stored payload of `raw` bytes that are compressed and `dense` ones that are not. The first term
// is zstd's ZSTD_COMPRESSBOUND, the second a frame with its block headers.
constexpr std::size_t chunk_payload_bound(std::size_t raw, std::size_t dense) {
  const std::size_t small = std::size_t{128} * 1024;
  const std::size_t compressed = raw + (raw >> 8) + (raw < small ? (small - raw) >> 11 : 0);
  return compressed + dense + 9 + 3 * (dense / small + 1);
}

// The largest size of a chunk without dense bytes.
std::size_t chunk_bound(std::size_t raw_bytes) noexcept;

// Scratch memory that compression needs, 8-byte aligned.
std::size_t chunk_context_bytes() noexcept;

// A compression context in `memory` of chunk_context_bytes(). nullptr if zstd needs more than it has estimated. Chunks
// are then stored uncompressed.
ZSTD_CCtx_s* make_chunk_context(void* memory) noexcept;

// How much time compression may take. `little`: without Huffman codes, and with a table that fits into the first-level
// cache. If the raw bytes are few compared with the dense ones, a chunk gets 1 % larger.
enum class Effort { usual, little };

// Writes a chunk to `out`, which must have room for a header and chunk_payload_bound(raw.size, dense.size). Returns its
// size. `identity` gives all of the header except compression and sizes. `dense` follows `raw` in the payload; it
// consists of bytes that cannot be compressed. Without a context, the payload is stored uncompressed.
std::size_t write_chunk(ZSTD_CCtx_s* context, Effort effort, const ChunkHeader& identity, ByteView raw, ByteView dense,
                        char* out) noexcept;

// The same with a context that is made for this chunk in `scratch` of chunk_context_bytes(); nullptr: without a
// context.
std::size_t make_chunk(const ChunkHeader& identity, const void* raw, std::size_t bytes, char* out,
                       void* scratch) noexcept;

}  // namespace tare::format
