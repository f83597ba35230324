#include "format/machine.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

namespace tare::format {
namespace {

constexpr std::uint64_t named(std::uint64_t name) noexcept { return name == 0 ? 1 : name; }

// Whether the numbers in /proc are those of this process's namespace. In a new namespace, /proc may still be the old.
bool proc_is_ours() noexcept {
  char self[16] = "";
  const ssize_t length = readlink("/proc/self", self, sizeof self - 1);
  pid_t number = 0;
  for (ssize_t i = 0; i < length; ++i) number = 10 * number + (self[i] - '0');
  return length > 0 && number == getpid();
}

}  // namespace

std::uint64_t hashed_with(std::uint64_t name, const char* bytes, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + i, count - i < 8 ? count - i : 8);
    name = hashed_with(name, word);
  }
  return hashed_with(name, count);
}

std::uint64_t machine_name() noexcept {
  char text[64] = "";
  long bytes = -1;
  const long fd = syscall(SYS_openat, AT_FDCWD, "/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (fd >= 0) {
    bytes = syscall(SYS_read, fd, text, sizeof text);
    syscall(SYS_close, fd);
  }
  if (bytes <= 0) {
    gethostname(text, sizeof text - 1);
    bytes = static_cast<long>(std::strlen(text));
  }
  return named(hashed_with(0, text, static_cast<std::size_t>(bytes)));
}

std::uint64_t shared_memory_name(const char* directory) noexcept {
  struct stat status {};
  if (stat(directory, &status) != 0) return 0;
  return named(hashed_with(hashed_with(machine_name(), status.st_dev), status.st_ino));
}

std::uint64_t pid_namespace_name() noexcept {
  struct stat status {};
  return proc_is_ours() && stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

}  // namespace tare::format
