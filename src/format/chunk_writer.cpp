#include "format/chunk_writer.h"

#define ZSTD_STATIC_LINKING_ONLY  // static contexts: compression without malloc
#include <zstd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace tare::format {
namespace {

// Level 1 and below lose little size on byte planes, and are fast (measured in bench/). The window covers the payload
// of a usual chunk. In larger payloads, only matches across longer distances are lost.
constexpr int zstd_level = 1;
constexpr unsigned window_log = 17;
constexpr unsigned hash_log = 14;

constexpr int little_level = -1;
constexpr unsigned little_hash_log = 12;

constexpr std::size_t frame_block = std::size_t{128} * 1024;  // the largest block of a zstd frame
constexpr std::size_t frame_bound(std::size_t bytes) { return bytes + 9 + 3 * (bytes / frame_block + 1); }

// Stores bytes in a zstd frame without compressing them (RFC 8878). Returns the size of the frame.
std::size_t put_frame(ByteView bytes, char* out) noexcept {
  constexpr std::uint32_t magic = 0xfd2fb528;
  constexpr unsigned char single_segment_of_four_bytes_size = 0xa0;
  const auto size = static_cast<std::uint32_t>(bytes.size);
  std::memcpy(out, &magic, 4);
  std::memcpy(out + 4, &single_segment_of_four_bytes_size, 1);
  std::memcpy(out + 5, &size, 4);
  char* at = out + 9;
  const char* from = static_cast<const char*>(bytes.data);
  for (std::size_t left = bytes.size;;) {
    const std::size_t block = std::min(left, frame_block);
    const auto head = static_cast<std::uint32_t>(block << 3 | (block == left ? 1 : 0));
    std::memcpy(at, &head, 3);
    std::memcpy(at + 3, from, block);
    at += 3 + block;
    from += block;
    left -= block;
    if (left == 0) return static_cast<std::size_t>(at - out);
  }
}

}  // namespace

std::size_t chunk_bound(std::size_t raw_bytes) noexcept { return sizeof(ChunkHeader) + ZSTD_COMPRESSBOUND(raw_bytes); }

static_assert(chunk_payload_bound(1000, 0) >= ZSTD_COMPRESSBOUND(1000) &&
              chunk_payload_bound(1 << 20, 0) >= ZSTD_COMPRESSBOUND(1 << 20));

std::size_t chunk_context_bytes() noexcept {
  ZSTD_compressionParameters p = ZSTD_getCParams(zstd_level, ZSTD_CONTENTSIZE_UNKNOWN, 0);
  p.windowLog = window_log;
  p.hashLog = p.chainLog = hash_log;
  return ZSTD_estimateCCtxSize_usingCParams(p) + 64;
}

ZSTD_CCtx_s* make_chunk_context(void* memory) noexcept {
  ZSTD_CCtx* context = ZSTD_initStaticCCtx(memory, chunk_context_bytes());
  if (context == nullptr) return nullptr;
  ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window_log);
  ZSTD_CCtx_setParameter(context, ZSTD_c_chainLog, hash_log);
  return context;
}

namespace {

// Returns the compressed size; 0 or an error of zstd if there is none.
std::size_t compress(ZSTD_CCtx_s* context, Effort effort, ByteView raw, char* out) noexcept {
  if (context == nullptr) return 0;
  const bool little = effort == Effort::little;
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, little ? little_level : zstd_level);
  ZSTD_CCtx_setParameter(context, ZSTD_c_hashLog, little ? little_hash_log : hash_log);
  return ZSTD_compress2(context, out, ZSTD_COMPRESSBOUND(raw.size), raw.data, raw.size);
}

}  // namespace

std::size_t write_chunk(ZSTD_CCtx_s* context, Effort effort, const ChunkHeader& identity, ByteView raw, ByteView dense,
                        char* out) noexcept {
  ChunkHeader header = identity;
  char* payload = out + sizeof(ChunkHeader);
  const std::size_t bytes = raw.size + dense.size;
  std::size_t stored = compress(context, effort, raw, payload);
  header.compression = Compression::zstd;
  if (stored == 0 || ZSTD_isError(stored) || stored + (dense.size == 0 ? 0 : frame_bound(dense.size)) >= bytes) {
    std::memcpy(payload, raw.data, raw.size);
    if (dense.size != 0) std::memcpy(payload + raw.size, dense.data, dense.size);
    stored = bytes;
    header.compression = Compression::none;
  } else if (dense.size != 0) {
    stored += put_frame(dense, payload + stored);
  }
  header.stored_bytes = static_cast<std::uint32_t>(stored);
  header.raw_bytes = static_cast<std::uint32_t>(bytes);
  seal(header, payload);
  std::memcpy(out, &header, sizeof header);
  return sizeof header + stored;
}

std::size_t make_chunk(const ChunkHeader& identity, const void* raw, std::size_t bytes, char* out,
                       void* scratch) noexcept {
  ZSTD_CCtx* context = scratch == nullptr ? nullptr : make_chunk_context(scratch);
  return write_chunk(context, Effort::usual, identity, {raw, bytes}, {nullptr, 0}, out);
}

}  // namespace tare::format
