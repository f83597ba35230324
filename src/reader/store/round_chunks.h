// Reads the chunks with the rounds of a monitored run (docs/format.md) from a file that may still grow.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reader/result.h"
#include "reader/store/mapped_file.h"

namespace tare::reader {

struct RoundChunks {
  std::vector<std::vector<char>> payloads;  // in the order of the file
  std::uint64_t next = 0;                   // the offset after the last complete chunk, where the next call continues
  bool is_all = true;                       // whether all bytes that were there have been looked at
};

// Reads the bytes from offset `begin` up to `end`, or up to the end of the file; of a large file only its first part.
// Damaged chunks and chunks of other types are left out. Fails if the file has another version of the format. `name`:
// of the file, for messages.
Result<RoundChunks> read_round_chunks(const MappedFile& file, const std::string& name, std::uint64_t begin,
                                      std::optional<std::uint64_t> end);

}  // namespace tare::reader
