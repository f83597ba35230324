#include "reader/store/chunk_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "format/chunk_writer.h"
#include "reader/store/function_names.h"

namespace tare::reader {

std::string chunk_file_path(const std::string& run_dir, const std::string& host) {
  std::string name = host.empty() ? "unknown" : host;
  std::replace(name.begin(), name.end(), '/', '_');
  return run_dir + "/" + name + ".tare";
}

ChunkFile::ChunkFile(const std::string& path)
    : fd_(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)) {
  struct stat status {};
  if (fd_ < 0 || ::fstat(fd_, &status) != 0) {
    error_ = errno;
    return;
  }
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
  error_ = written < 0 ? errno : ENOSPC;  // a file system that has room for a part only
  return false;
}

}  // namespace tare::reader
