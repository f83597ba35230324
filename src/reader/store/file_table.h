// What one process did with files (format/file_table.h), and where to read it from.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/file_table.h"
#include "reader/store/payload.h"

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

// Nothing if it cannot be read.
UsedFiles read_files(const PayloadSource& source);

}  // namespace tare::reader
