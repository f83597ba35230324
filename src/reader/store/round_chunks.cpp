#include "reader/store/round_chunks.h"

#include <algorithm>

#include "reader/store/chunk_scan.h"

namespace tare::reader {

namespace {

// What one call reads, and what it returns. A larger chunk is returned alone.
constexpr std::uint64_t max_read = 64 << 20;
constexpr std::uint64_t max_returned = 128 << 20;

}  // namespace

Result<RoundChunks> read_round_chunks(const MappedFile& file, const std::string& name, std::uint64_t begin,
                                      std::optional<std::uint64_t> end) {
  const std::string_view all = file.bytes();
  const std::uint64_t to = std::min<std::uint64_t>(end.value_or(all.size()), all.size());
  RoundChunks found{{}, std::min(begin, to), true};
  const std::uint64_t from = found.next;
  // Where damage is longer, it is looked through for what follows.
  for (std::uint64_t size = max_read; found.next == from && from < to; size *= 2) {
    const std::uint64_t until = std::min(to - from, size);
    found.is_all = until == to - from;
    const auto scan = scan_chunks(all.substr(from, until), name);
    if (!scan) return scan.failure();
    std::uint64_t returned = 0;
    for (const ChunkRef& chunk : scan->chunks) {
      returned += chunk.header.raw_bytes;
      if (returned > max_returned && !found.payloads.empty()) {
        found.is_all = false;
        return found;
      }
      found.next = std::max(found.next, from + chunk.offset + sizeof chunk.header + chunk.header.stored_bytes);
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
