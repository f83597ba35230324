// The end of a <host>.tare file, for appending.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "format/chunk.h"

namespace tare::reader {

// The file's name in the run directory: <host>.tare, with what a file name should not hold replaced.
std::string chunk_file_name(const std::string& host);

class ChunkFile {
 public:
  // Opens or creates the file; a new one begins with a functions chunk. error() tells of failure: EPERM also if what
  // has the name is no regular file of the run's owner, or has a second name. No link is followed.
  ChunkFile(const std::string& run_dir, const std::string& name);
  ~ChunkFile();
  ChunkFile(const ChunkFile&) = delete;
  ChunkFile& operator=(const ChunkFile&) = delete;

  // Compresses, seals and appends a payload. False if it is not on disk as a whole.
  bool append(const format::ChunkHeader& identity, std::string_view payload);
  // Appends a sealed chunk with one write(); other writers' chunks come before or after it, not into it.
  bool append(std::string_view sealed);
  // Of the first failure: errno, 0 if there was none.
  int error() const { return error_; }

 private:
  int fd_;
  int error_ = 0;
  std::vector<char> context_;
  std::vector<char> chunk_;
};

}  // namespace tare::reader
