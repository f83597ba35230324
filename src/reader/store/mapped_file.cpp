#include "reader/store/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace tare::reader {

Result<MappedFile> MappedFile::open(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return Failure{path + ": " + std::strerror(errno)};
  struct stat status {};
  void* data = nullptr;
  bool mapped = ::fstat(fd, &status) == 0;
  if (mapped && !S_ISREG(status.st_mode)) {
    ::close(fd);
    return Failure{path + " is not a regular file; remove it"};
  }
  if (mapped && status.st_size > 0) {
    data = ::mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_SHARED, fd, 0);
    mapped = data != MAP_FAILED;
  }
  const int reason = errno;
  ::close(fd);
  if (!mapped) return Failure{path + ": " + std::strerror(reason)};
  return MappedFile(static_cast<const char*>(data), static_cast<std::size_t>(status.st_size));
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

void MappedFile::release() const {
  if (data_ != nullptr) ::madvise(const_cast<char*>(data_), size_, MADV_DONTNEED);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<char*>(data_), size_);
}

}  // namespace tare::reader
