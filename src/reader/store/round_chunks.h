// The rounds of a monitored run, as they are stored (docs/format.md): payloads of chunks, of a file that may be
// growing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reader/result.h"

namespace tare::reader {

struct RoundChunks {
  std::vector<std::vector<char>> payloads;  // in the order of the file
  std::uint64_t next = 0;                   // where to go on: behind the last whole chunk
};

// Of the bytes from `begin` up to `end`, or up to the end of the file. Chunks that are damaged, or of other types, are
// left out. Fails if there is no such file, or if it has another version.
Result<RoundChunks> read_round_chunks(const std::string& path, std::uint64_t begin, std::optional<std::uint64_t> end);

}  // namespace tare::reader
