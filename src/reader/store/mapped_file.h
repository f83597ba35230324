// A file mapped for reading. The bytes are valid as long as the object. Only for files that their writers never
// shorten, as the files of a run directory, to which chunks are only appended: reading a page past the end would raise
// SIGBUS.
#pragma once

#include <string>
#include <string_view>

#include "reader/result.h"
#include "reader/store/run_directory.h"

namespace tare::reader {

class MappedFile {
 public:
  // A file that the user names; the path may contain links.
  static Result<MappedFile> open(const std::string& path);
  // A file of a run.
  static Result<MappedFile> open(const RunDirectory& directory, const std::string& name);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::string_view bytes() const { return {data_, size_}; }
  // Releases the memory of the pages that were read so far. They are read from the file again when needed, so other
  // threads may read at the same time.
  void release() const;

 private:
  MappedFile(const char* data, std::size_t size) : data_(data), size_(size) {}
  static Result<MappedFile> map(const format::Descriptor& file, const std::string& path);

  const char* data_;
  std::size_t size_;
};

}  // namespace tare::reader
