// A file descriptor that is closed when its owner ends. Not for code in the measured program, which keeps its own
// descriptors apart from the program's (recorder/system.h).
#pragma once

#include <unistd.h>

#include <utility>

namespace tare::format {

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }

  explicit operator bool() const { return fd_ >= 0; }
  int fd() const { return fd_; }
  // Closes it now. False with errno set if the file system reports only now that a write has failed.
  bool close() { return fd_ < 0 || ::close(std::exchange(fd_, -1)) == 0; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

}  // namespace tare::format
