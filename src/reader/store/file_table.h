// What one process did with files (format/file_table.h), and where to read it from.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/file_table.h"
#include "reader/store/chunk_scan.h"

namespace tare::reader {

struct UsedFiles {
  struct File {
    format::FileEntry entry{};
    std::string name{};  // any bytes
  };
  std::vector<File> files;
  std::vector<format::FileUse> uses;  // each of one of `files`
};

// Nothing if the payload of a files chunk is malformed.
std::optional<UsedFiles> parse_files(std::string_view payload);

// Where the newest table of a process is: a chunk on disk, or a copy from the segment. Both are null if there is none.
struct FileSource {
  const ChunkRef* chunk = nullptr;            // of Run::files()
  std::shared_ptr<const std::string> copy{};  // the payload; used if not null

  bool is_there() const { return chunk != nullptr || copy != nullptr; }
};

// Nothing if it cannot be read.
UsedFiles read_files(const FileSource& source);

}  // namespace tare::reader
