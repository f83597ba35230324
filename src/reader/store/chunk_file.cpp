#include "reader/store/chunk_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "format/chunk_writer.h"
#include "format/node_file_name.h"
#include "format/segment.h"
#include "reader/store/function_names.h"
#include "reader/store/owners.h"

namespace tare::reader {

std::string chunk_file_name(const std::string& host) {
  char name[sizeof(format::ProcessRecord::host) + 8];
  format::node_file_name(name, sizeof name, host.c_str());
  return name;
}

ChunkFile::ChunkFile(const std::string& run_dir, const std::string& name) : fd_(-1) {
  const int directory = ::open(run_dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory >= 0)
    fd_ = ::openat(directory, name.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
  struct stat status {};
  if (fd_ < 0 || ::fstat(fd_, &status) != 0) error_ = errno;
  if (directory >= 0) ::close(directory);
  if (error_ == 0 && (!Owners(run_dir).trust(status) || status.st_nlink != 1)) error_ = EPERM;
  if (error_ != 0) return;
  if (status.st_size > 0) return;
  format::ChunkHeader identity{};
  identity.type = format::ChunkType::functions;
  append(identity, functions_payload());
}

ChunkFile::~ChunkFile() {
  if (fd_ >= 0) ::close(fd_);
}

bool ChunkFile::append(const format::ChunkHeader& identity, std::string_view payload) {
  chunk_.resize(format::chunk_bound(payload.size()));
  context_.resize(format::chunk_context_bytes() + 64);
  const auto misaligned = reinterpret_cast<std::uintptr_t>(context_.data()) % 64;
  char* context = context_.data() + (64 - misaligned) % 64;
  const std::size_t bytes = format::make_chunk(identity, payload.data(), payload.size(), chunk_.data(), context);
  return append(std::string_view(chunk_.data(), bytes));
}

bool ChunkFile::append(std::string_view sealed) {
  if (error_ != 0) return false;
  ssize_t written = 0;
  do written = ::write(fd_, sealed.data(), sealed.size());
  while (written < 0 && errno == EINTR);
  if (written == static_cast<ssize_t>(sealed.size())) return true;
  error_ = written < 0 ? errno : ENOSPC;  // a short write: the file system is full
  return false;
}

}  // namespace tare::reader
