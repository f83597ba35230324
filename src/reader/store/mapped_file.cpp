#include "reader/store/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace tare::reader {

Result<MappedFile> MappedFile::open(const std::string& path) {
  return map(format::Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)), path);
}

Result<MappedFile> MappedFile::open(const RunDirectory& directory, const std::string& name) {
  const auto file = directory.open_file(name);
  if (!file) return file.failure();
  return map(*file, directory.path() + "/" + name);
}

Result<MappedFile> MappedFile::map(const format::Descriptor& file, const std::string& path) {
  struct stat status {};
  if (!file || ::fstat(file.fd(), &status) != 0) return Failure{path + ": " + std::strerror(errno)};
  if (!S_ISREG(status.st_mode)) return Failure{path + " is not a regular file; remove it"};
  void* data = nullptr;
  if (status.st_size > 0)
    data = ::mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_SHARED, file.fd(), 0);
  if (data == MAP_FAILED) return Failure{path + ": " + std::strerror(errno)};
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
