#include "tared/own_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace tare::tared {

using format::Descriptor;

Descriptor open_own_file(const std::string& path, bool is_private) {
  Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat status {};
  const bool is_ours = file && fstat(file.fd(), &status) == 0 && S_ISREG(status.st_mode) &&
                       status.st_uid == geteuid() && (!is_private || (status.st_mode & 077) == 0);
  return is_ours ? std::move(file) : Descriptor();
}

std::string read_own_file(const std::string& path, std::size_t max_bytes, std::uint64_t offset, bool is_private) {
  const Descriptor file = open_own_file(path, is_private);
  if (!file) return {};
  std::string text(max_bytes, '\0');
  const ssize_t bytes = pread(file.fd(), text.data(), text.size(), static_cast<off_t>(offset));
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(bytes, 0)));
  return text;
}

bool write_new_file(const std::string& path, std::string_view text) {
  Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return false;
  const bool is_written = write(file.fd(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
  return file.close() && is_written;
}

void append_to_file(const std::string& path, std::string_view line) {
  const Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
  if (!file) return;
  [[maybe_unused]] const ssize_t written = write(file.fd(), line.data(), line.size());
}

}  // namespace tare::tared
