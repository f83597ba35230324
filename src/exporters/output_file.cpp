#include "exporters/output_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

namespace tare::exporters {

std::string part_name(const std::string& path) { return path + "." + std::to_string(::getpid()) + ".part"; }

OutputFile::OutputFile(std::string path) : path_(std::move(path)), part_(part_name(path_)) {
  file_ = format::Descriptor(::open(part_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!file_) fail(errno);
  buffer_.reserve(flush_at + flush_at / 4);
}

OutputFile::~OutputFile() {
  if (file_) ::unlink(part_.c_str());
}

void OutputFile::flush() {
  const char* at = buffer_.data();
  std::size_t left = has_failed() ? 0 : buffer_.size();
  while (left != 0) {
    const ssize_t written = ::write(file_.fd(), at, left);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      fail(errno);
      break;
    }
    at += written;
    left -= static_cast<std::size_t>(written);
  }
  buffer_.clear();
}

void OutputFile::fail(int error) {
  if (failure_.empty()) failure_ = "cannot write " + path_ + ": " + std::strerror(error);
}

std::string OutputFile::finish() {
  flush();
  if (file_) {
    if (!file_.close()) fail(errno);
    if (!has_failed() && std::rename(part_.c_str(), path_.c_str()) != 0) fail(errno);
    if (has_failed()) ::unlink(part_.c_str());
  }
  return failure_;
}

}  // namespace tare::exporters
