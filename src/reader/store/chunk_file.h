// Appends chunks to a <host>.tare file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "format/chunk.h"
#include "format/descriptor.h"

namespace tare::reader {

// The name of the file in the run directory: <host>.tare. Characters that a file name should not have are replaced.
std::string chunk_file_name(const std::string& host);

class ChunkFile {
 public:
  // Opens or creates the file (RunDirectory::open_file). A new file begins with a functions chunk. error() returns why
  // this failed.
  ChunkFile(const std::string& run_dir, const std::string& name);
  ChunkFile(const ChunkFile&) = delete;
  ChunkFile& operator=(const ChunkFile&) = delete;

  // Compresses, seals and appends a payload. False if it was not written completely.
  bool append(const format::ChunkHeader& identity, std::string_view payload);
  // Appends a sealed chunk with one write(), so that chunks of other writers do not mix with it.
  bool append(std::string_view sealed);
  // The errno of the first failure; 0 if there was none.
  int error() const { return error_; }

 private:
  format::Descriptor file_;
  int error_ = 0;
  std::vector<char> context_;
  std::vector<char> chunk_;
};

}  // namespace tare::reader
