#include "recorder/system.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <bit>
#include <climits>
#include <cstring>
#include <ctime>

#include "format/number.h"
#include "recorder/environment.h"
#include "recorder/kept_directories.h"

namespace tare::recorder {
namespace {

// System calls and not the C library's functions: those are cancellation points, and a thread must not be cancelled in
// code that the program does not know.
int open_file(const char* path, int flags) noexcept {
  const Place place = place_of(path);
  return static_cast<int>(
      syscall(SYS_openat, place.directory, place.name, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
}
void close_file(int fd) noexcept { syscall(SYS_close, fd); }

constexpr gid_t no_group = static_cast<gid_t>(-1);
constinit gid_t reading_group = no_group;

// A file system may map users, so that its numbers differ from this machine's. All files that we create there have the
// same owner.
bool is_owner_of_directory(uid_t owner, const char* path) noexcept {
  struct stat status {};
  const Place place = place_of(path);
  if (place.directory != AT_FDCWD)
    return fstatat(place.directory, "", &status, AT_EMPTY_PATH) == 0 && status.st_uid == owner;
  char directory[PATH_MAX];
  const char* slash = std::strrchr(path, '/');
  const std::size_t bytes = slash == nullptr ? 0 : static_cast<std::size_t>(slash - path);
  if (bytes == 0 || bytes >= sizeof directory) return false;
  std::memcpy(directory, path, bytes);
  directory[bytes] = '\0';
  return stat(directory, &status) == 0 && status.st_uid == owner;
}

// Another user may have created a file of this name, or a second link to ours.
bool is_ours(int fd, const char* path) noexcept {
  struct stat status {};
  if (fstat(fd, &status) != 0) return false;
  const bool ours = S_ISREG(status.st_mode) && status.st_nlink <= 1 &&
                    (status.st_uid == geteuid() || is_owner_of_directory(status.st_uid, path));
  if (!ours) errno = EPERM;
  return ours;
}

// A write beyond RLIMIT_FSIZE would raise SIGXFSZ in the program.
bool within_file_limit(int fd, std::size_t bytes) noexcept {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return true;
  struct stat status {};
  const bool within = fstat(fd, &status) == 0 && static_cast<rlim_t>(status.st_size) + bytes <= limit.rlim_cur;
  if (!within) errno = EFBIG;
  return within;
}

struct flock first_byte(short type) noexcept {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_len = 1;
  return lock;
}

// If a file system cannot reserve space, the C library writes to each block.
bool reserve(int fd, std::size_t offset, std::size_t length) noexcept {
  return length == 0 || posix_fallocate(fd, static_cast<off_t>(offset), static_cast<off_t>(length)) == 0;
}

// Populated now, so that measured calls have no page faults. `at` nullptr: anywhere; else in place of what is mapped
// there.
void* map_reserved(int fd, void* at, std::size_t offset, std::size_t length) noexcept {
  if (!reserve(fd, offset, length)) return nullptr;
  void* memory = mmap(at, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE | (at == nullptr ? 0 : MAP_FIXED),
                      fd, static_cast<off_t>(offset));
  return memory == MAP_FAILED ? nullptr : memory;
}

void* map_around(int fd, std::size_t offset, std::size_t length, Hole hole) noexcept {
  struct stat status {};
  const std::size_t end = offset + length;
  if (fstat(fd, &status) != 0 ||
      (static_cast<std::size_t>(status.st_size) < end && syscall(SYS_ftruncate, fd, static_cast<off_t>(end)) != 0))
    return nullptr;
  void* memory = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, static_cast<off_t>(offset));
  if (memory == MAP_FAILED) return nullptr;
  const std::size_t behind = hole.at + hole.bytes;
  if (map_reserved(fd, memory, offset, hole.at) != nullptr &&
      (behind == length ||
       map_reserved(fd, static_cast<char*>(memory) + behind, offset + behind, length - behind) != nullptr))
    return memory;
  munmap(memory, length);
  return nullptr;
}

}  // namespace

void SpinLock::lock() noexcept {
  const std::uintptr_t before = tare_inside;
  tare_inside = not_to_be_left;
  while (held_.exchange(true, std::memory_order_acquire)) {
    while (held_.load(std::memory_order_relaxed)) sched_yield();
  }
  inside_before_ = before;
}

bool SpinLock::try_lock() noexcept {
  const std::uintptr_t before = tare_inside;
  tare_inside = not_to_be_left;
  if (!held_.exchange(true, std::memory_order_acquire)) {
    inside_before_ = before;
    return true;
  }
  tare_inside = before;
  return false;
}

long read_file(const char* path, char* out, std::size_t bytes) noexcept {
  const int fd = open_file(path, O_RDONLY);
  if (fd < 0) return -1;
  const long n = syscall(SYS_read, fd, out, bytes);
  close_file(fd);
  return n;
}

std::uint64_t read_delay() noexcept {
  char text[96];
  const long bytes = read_file("/proc/thread-self/schedstat", text, sizeof text - 1);
  if (bytes <= 0) return UINT64_MAX;
  text[bytes] = 0;
  const char* at = std::strchr(text, ' ');
  if (at == nullptr) return UINT64_MAX;
  std::uint64_t delay = 0;
  for (++at; *at >= '0' && *at <= '9'; ++at) delay = 10 * delay + static_cast<std::uint64_t>(*at - '0');
  return delay;
}

bool append_file(const char* path, const char* data, std::size_t bytes) noexcept {
  const int fd = open_file(path, O_WRONLY | O_APPEND);
  if (fd < 0) return false;
  bool whole = is_ours(fd, path) && within_file_limit(fd, bytes);
  while (whole && bytes != 0) {
    const long n = syscall(SYS_write, fd, data, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) whole = false;
    if (n == 0) errno = ENOSPC;
    if (n > 0) {
      data += n;
      bytes -= static_cast<std::size_t>(n);
    }
  }
  close_file(fd);
  return whole;
}

bool create_file(const char* path) noexcept {
  const int fd = open_file(path, O_WRONLY | O_CREAT | O_EXCL);
  if (fd < 0) return false;
  if (reading_group != no_group && syscall(SYS_fchown, fd, -1, reading_group) == 0) syscall(SYS_fchmod, fd, 0640);
  close_file(fd);
  return true;
}

void remove_file(const char* path) noexcept {
  const Place place = place_of(path);
  syscall(SYS_unlinkat, place.directory, place.name, 0);
}

void open_to_group(const char* number) noexcept {
  std::uint64_t group = no_group;
  const bool is_known = number != nullptr && format::parse_count(number, group) && group < no_group;
  if (number != nullptr && !is_known) warn_of("TARE_GROUP", number, "the number of a group");
  reading_group = is_known ? static_cast<gid_t>(group) : no_group;
}

bool reserve_file(const char* path, std::size_t bytes) noexcept {
  const int fd = open_file(path, O_RDWR);
  if (fd < 0) return false;
  const bool reserved = is_ours(fd, path) && within_file_limit(fd, bytes) && reserve(fd, 0, bytes);
  close_file(fd);
  return reserved;
}

bool resize_file(const char* path, std::size_t bytes) noexcept {
  const int fd = open_file(path, O_RDWR);
  if (fd < 0) return false;
  const bool resized =
      is_ours(fd, path) && within_file_limit(fd, bytes) && syscall(SYS_ftruncate, fd, static_cast<off_t>(bytes)) == 0;
  close_file(fd);
  return resized;
}

void* map_file(const char* path, std::size_t offset, std::size_t length, Hole hole) noexcept {
  const int fd = open_file(path, O_RDWR);
  if (fd < 0) return nullptr;
  void* memory = nullptr;
  if (is_ours(fd, path) && within_file_limit(fd, offset + length))
    memory = hole.bytes == 0 ? map_reserved(fd, nullptr, offset, length) : map_around(fd, offset, length, hole);
  close_file(fd);
  return memory;
}

bool own_file_sizes(const char* directory, const char* prefix, FileSizes& sizes) noexcept {
  sizes = {};
  const int fd = open_file(directory, O_RDONLY | O_DIRECTORY);
  if (fd < 0) return false;
  alignas(dirent64) char entries[8192];
  long bytes = 0;
  while ((bytes = syscall(SYS_getdents64, fd, entries, sizeof entries)) > 0) {
    for (long at = 0; at < bytes;) {
      const auto* entry = reinterpret_cast<const dirent64*>(entries + at);
      at += entry->d_reclen;
      struct stat status {};
      if (std::strncmp(entry->d_name, prefix, std::strlen(prefix)) != 0 ||
          fstatat(fd, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode) ||
          status.st_uid != geteuid())
        continue;
      sizes.bytes += static_cast<std::uint64_t>(status.st_size);
      sizes.taken += static_cast<std::uint64_t>(status.st_blocks) * 512;
    }
  }
  close_file(fd);
  return bytes == 0;
}

// The lock belongs to the open file description, and that exists as long as the mapping. Some file systems (overlayfs)
// map another file instead. There the lock ends with the descriptor, so it is looked for afterwards.
bool mark_file(const char* path) noexcept {
  constexpr std::size_t page = 4096;
  const int fd = open_file(path, O_RDONLY);
  if (fd < 0) return false;
  struct flock lock = first_byte(F_RDLCK);
  void* memory = MAP_FAILED;
  if (syscall(SYS_fcntl, fd, F_OFD_SETLK, &lock) == 0) memory = mmap(nullptr, page, PROT_READ, MAP_SHARED, fd, 0);
  const bool held = memory != MAP_FAILED && madvise(memory, page, MADV_DONTFORK) == 0;
  close_file(fd);
  const bool found = held && is_marked(path);
  if (!found && memory != MAP_FAILED) munmap(memory, page);
  return found;
}

bool is_marked(const char* path) noexcept {
  const int fd = open_file(path, O_RDONLY);
  if (fd < 0) return false;
  struct flock lock = first_byte(F_WRLCK);
  const bool found = syscall(SYS_fcntl, fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  close_file(fd);
  return found;
}

void* map_memory(std::size_t bytes) noexcept {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

void unmap_memory(void* memory, std::size_t bytes) noexcept { munmap(memory, bytes); }

// The kernel reads the set of signals before it finds the other argument invalid. So nothing changes. (At 0 is no set.)
bool is_readable(std::uintptr_t address) noexcept {
  constexpr int nothing = -1;
  constexpr std::size_t set_bytes = 8;
  return address != 0 && (syscall(SYS_rt_sigprocmask, nothing, address, nullptr, set_bytes) == 0 || errno != EFAULT);
}

void wait_on(const void* word, std::uint32_t value, std::uint64_t ns) noexcept {
  const timespec time{static_cast<time_t>(ns / 1'000'000'000U), static_cast<long>(ns % 1'000'000'000U)};
  syscall(SYS_futex, word, FUTEX_WAIT, value, &time, nullptr, 0);
}

void wake(const void* word) noexcept { syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0); }

Space space_of(const char* directory) noexcept {
  struct statvfs status {};
  if (statvfs(directory, &status) != 0) return {};
  return {std::uint64_t{status.f_blocks} * status.f_frsize, std::uint64_t{status.f_bavail} * status.f_frsize};
}

std::uint32_t processors() noexcept {
  unsigned char allowed[1024] = {};
  const long bytes = syscall(SYS_sched_getaffinity, 0, sizeof allowed, allowed);
  std::uint32_t count = 0;
  for (long i = 0; i < bytes; ++i) count += static_cast<std::uint32_t>(std::popcount(allowed[i]));
  return count == 0 ? 1 : count;
}

}  // namespace tare::recorder
