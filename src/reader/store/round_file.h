// Reads the chunks with the rounds of a monitored run (docs/format.md) from a file that may still grow.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reader/result.h"

namespace tare::reader {

struct RoundChunks {
  std::vector<std::vector<char>> payloads;  // in the order of the file
  bool is_all = true;                       // whether all bytes that were there have been looked at
};

class RoundFile {
 public:
  // A file of a run; with `end` the bytes from `begin` to `end` of an archive.
  explicit RoundFile(std::string path, std::uint64_t begin = 0, std::optional<std::uint64_t> end = std::nullopt)
      : path_(std::move(path)), next_(begin), end_(end) {}

  // Reads what has come since the last call; of a large file only the first part of it. Damaged chunks and chunks of
  // other types are left out. Fails if the file has another version of the format.
  Result<RoundChunks> read();

 private:
  std::string path_;
  std::uint64_t next_;  // the offset after the last complete chunk
  std::optional<std::uint64_t> end_;
};

}  // namespace tare::reader
