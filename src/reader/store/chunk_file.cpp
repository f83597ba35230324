#include "reader/store/chunk_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "format/chunk_writer.h"
#include "format/node_file_name.h"
#include "format/segment.h"
#include "reader/store/function_names.h"
#include "reader/store/run_directory.h"

namespace tare::reader {

std::string chunk_file_name(const std::string& host) {
  char name[sizeof(format::ProcessRecord::host) + 8];
  format::node_file_name(name, sizeof name, host.c_str());
  return name;
}

ChunkFile::ChunkFile(const std::string& run_dir, const std::string& name) {
  const auto directory = RunDirectory::open(run_dir);
  Result<format::Descriptor> file = directory ? directory->open_file(name, O_WRONLY | O_CREAT | O_APPEND)
                                              : Result<format::Descriptor>(directory.failure());
  struct stat status {};
  if (!file || ::fstat(file->fd(), &status) != 0) {
    error_ = errno;
    return;
  }
  file_ = std::move(*file);
  if (status.st_size > 0) return;
  format::ChunkHeader identity{};
  identity.type = format::ChunkType::functions;
  append(identity, functions_payload());
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
  do written = ::write(file_.fd(), sealed.data(), sealed.size());
  while (written < 0 && errno == EINTR);
  if (written == static_cast<ssize_t>(sealed.size())) return true;
  error_ = written < 0 ? errno : ENOSPC;  // a short write: the file system is full
  return false;
}

}  // namespace tare::reader
