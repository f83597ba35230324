// A file that is written completely or not at all.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "format/descriptor.h"

namespace tare::exporters {

// What a file or directory is called until it is whole: no name that the user may have given something.
std::string part_name(const std::string& path);

// Bytes go to part_name(PATH), which is renamed when all are on disk. After a failure nothing more is written, and
// finish() returns the first failure. Without finish() nothing is left.
class OutputFile {
 public:
  explicit OutputFile(std::string path);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  void write(std::string_view bytes) {
    buffer_.append(bytes);
    if (buffer_.size() >= flush_at) flush();
  }
  // For writers that append by themselves. wrote() must follow.
  std::string& buffer() { return buffer_; }
  void wrote() {
    if (buffer_.size() >= flush_at) flush();
  }
  bool has_failed() const { return !failure_.empty(); }
  // The failure, or empty.
  std::string finish();

 private:
  static constexpr std::size_t flush_at = std::size_t{1} << 20;

  void flush();
  void fail(int error);

  std::string path_, part_, failure_, buffer_;
  format::Descriptor file_;
};

}  // namespace tare::exporters
