#include "recorder/kept_directories.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstring>

#include "recorder/errno_guard.h"

namespace tare::recorder {
namespace {

struct Directory {
  char path[PATH_MAX];
  bool kept;
  int descriptor;
  dev_t device;
  ino_t inode;
};
constinit Directory run{};
constinit Directory segments{};

bool is_kept(const Directory& directory) noexcept {
  struct stat status {};
  return directory.kept && fstat(directory.descriptor, &status) == 0 && status.st_dev == directory.device &&
         status.st_ino == directory.inode;
}

// A descriptor with a high number, because programs may expect the low ones to be free.
int moved_up(int descriptor) noexcept {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return descriptor;
  const rlim_t highest = std::min<rlim_t>(limit.rlim_cur, 1024);
  const auto from = static_cast<int>(highest > 64 ? highest - 16 : 3);
  const long moved = syscall(SYS_fcntl, descriptor, F_DUPFD_CLOEXEC, from);
  if (moved < 0) return descriptor;
  syscall(SYS_close, descriptor);
  return static_cast<int>(moved);
}

bool keep(Directory& directory) noexcept {
  if (directory.path[0] == '\0' || is_kept(directory)) return false;
  const long opened = syscall(SYS_openat, AT_FDCWD, directory.path, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
  struct stat status {};
  if (opened < 0) return false;
  directory.descriptor = moved_up(static_cast<int>(opened));
  if (fstat(directory.descriptor, &status) != 0) return false;
  directory.device = status.st_dev;
  directory.inode = status.st_ino;
  directory.kept = true;
  return true;
}

void release(Directory& directory) noexcept {
  if (is_kept(directory)) syscall(SYS_close, directory.descriptor);
  directory.kept = false;
}

}  // namespace

void note_directories(const char* run_dir, const char* segment_dir) noexcept {
  std::snprintf(run.path, sizeof run.path, "%s", run_dir);
  std::snprintf(segments.path, sizeof segments.path, "%s", segment_dir);
}

bool keep_directories() noexcept {
  const ErrnoGuard guard;
  const bool kept_run = keep(run);
  return keep(segments) || kept_run;
}

void release_directories() noexcept {
  const ErrnoGuard guard;
  release(run);
  release(segments);
}

Place place_of(const char* path) noexcept {
  for (const Directory* directory : {&run, &segments}) {
    const std::size_t length = std::strlen(directory->path);
    if (directory->kept && std::strncmp(path, directory->path, length) == 0 && path[length] == '/' &&
        std::strchr(path + length + 1, '/') == nullptr && is_kept(*directory))
      return {directory->descriptor, path + length + 1};
  }
  return {AT_FDCWD, path};
}

}  // namespace tare::recorder
