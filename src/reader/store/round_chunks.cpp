#include "reader/store/round_chunks.h"

#include <algorithm>

#include "reader/store/chunk_scan.h"
#include "reader/store/mapped_file.h"

namespace tare::reader {

Result<RoundChunks> read_round_chunks(const std::string& path, std::uint64_t begin, std::optional<std::uint64_t> end) {
  const auto file = MappedFile::open(path);
  if (!file) return file.failure();
  const std::string_view all = file->bytes();
  const std::uint64_t to = std::min<std::uint64_t>(end.value_or(all.size()), all.size());
  RoundChunks found{{}, std::min(begin, to)};
  const auto scan = scan_chunks(all.substr(found.next, to - found.next), path);
  if (!scan) return scan.failure();
  const std::uint64_t from = found.next;
  for (const ChunkRef& chunk : scan->chunks) {
    found.next = std::max(found.next, from + chunk.offset + sizeof chunk.header + chunk.header.stored_bytes);
    if (chunk.header.type != format::ChunkType::rounds) continue;
    std::vector<char> payload;
    std::string error;
    if (load_chunk(chunk, payload, error)) found.payloads.push_back(std::move(payload));
  }
  return found;
}

}  // namespace tare::reader
