#include "format/decompress.h"

#include <zstd.h>

#include <memory>
#include <new>

namespace tare::format {
namespace {

// Setting up zstd's state takes longer than decompressing most chunks, so each thread keeps one.
std::size_t decompress_frame(char* out, std::size_t bytes, const char* in, std::size_t in_bytes) {
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };
  thread_local const std::unique_ptr<ZSTD_DCtx, Free> context(ZSTD_createDCtx());
  if (context == nullptr) throw std::bad_alloc();
  return ZSTD_decompressDCtx(context.get(), out, bytes, in, in_bytes);
}

}  // namespace

bool decompress(const ChunkHeader& header, const char* stored, std::vector<char>& raw, std::string& error) {
  // A header may claim anything. No chunk that tare writes is larger.
  constexpr std::uint32_t largest = 1U << 28;
  error.clear();
  if (header.raw_bytes > largest) error = "chunk claims an impossible size";
  if (header.compression == Compression::none) {
    if (header.raw_bytes != header.stored_bytes) error = "uncompressed chunk of two sizes";
    if (error.empty()) raw.assign(stored, stored + header.stored_bytes);
  } else if (header.compression == Compression::zstd) {
    if (!error.empty()) return false;
    raw.resize(header.raw_bytes);
    const std::size_t size = decompress_frame(raw.data(), raw.size(), stored, header.stored_bytes);
    if (ZSTD_isError(size) || size != raw.size()) error = "chunk does not decompress to its size";
  } else {
    error = "unknown compression " + std::to_string(static_cast<int>(header.compression));
  }
  return error.empty();
}

}  // namespace tare::format
