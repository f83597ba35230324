#include "reader/store/round_file.h"

#include <algorithm>
#include <filesystem>

#include "reader/store/chunk_scan.h"
#include "reader/store/mapped_file.h"

namespace tare::reader {

namespace {

// What one call reads, and what it returns. A larger chunk is returned alone.
constexpr std::uint64_t max_read = 64 << 20;
constexpr std::uint64_t max_returned = 128 << 20;

// `is_archived`: in an archive, which the user names.
Result<MappedFile> open(const std::filesystem::path& path, bool is_archived) {
  if (is_archived) return MappedFile::open(path.string());
  const auto directory = RunDirectory::open(path.parent_path().string());
  if (!directory) return directory.failure();
  return MappedFile::open(*directory, path.filename().string());
}

}  // namespace

Result<RoundChunks> RoundFile::read() {
  const auto file = open(path_, end_.has_value());
  if (!file) return file.failure();
  const std::string_view all = file->bytes();
  const std::uint64_t to = std::min<std::uint64_t>(end_.value_or(all.size()), all.size());
  const std::uint64_t from = std::min(next_, to);
  RoundChunks found;
  next_ = from;
  // Where damage is longer, it is looked through for what follows.
  for (std::uint64_t size = max_read; next_ == from && from < to; size *= 2) {
    const std::uint64_t until = std::min(to - from, size);
    found.is_all = until == to - from;
    const auto scan = scan_chunks(all.substr(from, until), path_);
    if (!scan) return scan.failure();
    std::uint64_t returned = 0;
    for (const ChunkRef& chunk : scan->chunks) {
      returned += chunk.header.raw_bytes;
      if (returned > max_returned && !found.payloads.empty()) {
        found.is_all = false;
        return found;
      }
      next_ = std::max(next_, from + chunk.offset + sizeof chunk.header + chunk.header.stored_bytes);
      if (chunk.header.type != format::ChunkType::rounds) continue;
      std::vector<char> payload;
      std::string error;
      if (load_chunk(chunk, payload, error)) found.payloads.push_back(std::move(payload));
    }
    if (found.is_all) break;
  }
  return found;
}

}  // namespace tare::reader
