// A file mapped for reading. The bytes stay valid as long as the object. Only for files that are never cut
// shorter by their writers, as the files of a run directory: chunks are only appended.
#pragma once

#include <string>
#include <string_view>

#include "reader/result.h"

namespace tare::reader {

class MappedFile {
 public:
  static Result<MappedFile> open(const std::string& path);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::string_view bytes() const { return {data_, size_}; }
  // Gives back the memory of the pages that were read so far; they come from the file again when next read. Other
  // threads may be reading.
  void release() const;

 private:
  MappedFile(const char* data, std::size_t size) : data_(data), size_(size) {}

  const char* data_;
  std::size_t size_;
};

}  // namespace tare::reader
