#include "format/liveness.h"

#include <fcntl.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

#include "format/machine.h"
#include "format/number.h"

namespace tare::format {
namespace {

struct Closer {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Closer>;

File open_of(unsigned pid, const char* what) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%u/%s", pid, what);
  return File(std::fopen(path, "re"));
}

// Fields of /proc/PID/stat. `state` is 0 if there is no such process.
struct Status {
  char state = 0;
  std::uint64_t threads = 0;
  std::uint64_t start_ticks = 0;
};

Status status_of(unsigned pid) {
  const File file = pid == 0 ? nullptr : open_of(pid, "stat");
  char line[1024];
  if (!file || std::fgets(line, sizeof line, file.get()) == nullptr) return {};
  const char* name_end = std::strrchr(line, ')');  // the name itself may contain ')'
  if (name_end == nullptr || name_end[1] != ' ') return {};
  Status status;
  status.state = name_end[2];
  // proc(5): fields 3, 20 and 22.
  const char* at = name_end + 2;
  for (unsigned field = 3; at != nullptr && field <= 22; ++field, at = std::strchr(at, ' ')) {
    if (*at == ' ') ++at;
    const std::string_view text(at, std::strcspn(at, " \n"));
    if (field == 20 && !parse_count(text, status.threads)) return {};
    if (field == 22 && !parse_count(text, status.start_ticks)) return {};
  }
  return status;
}

// A process whose first thread has ended looks like a zombie while others go on.
bool has_ended(const Status& status) {
  return status.state == 0 || status.state == 'X' || (status.state == 'Z' && status.threads <= 1);
}

// Whether the process maps the file, or may not be looked into.
bool may_map(unsigned pid, const std::string& segment) {
  const auto refused = [] { return errno == EACCES || errno == EPERM; };
  errno = 0;
  const File maps = open_of(pid, "maps");
  if (!maps) return refused();
  char* line = nullptr;
  std::size_t capacity = 0;
  bool found = false;
  while (!found && ::getline(&line, &capacity, maps.get()) > 0) found = std::strstr(line, segment.c_str()) != nullptr;
  found = found || (std::ferror(maps.get()) != 0 && refused());
  std::free(line);
  return found;
}

}  // namespace

bool is_here(const Maker& maker) {
  static const std::uint64_t here = machine_name();
  return maker.machine == here;
}

bool is_marked(int fd) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_len = 1;
  return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

bool shares_pids(const Maker& maker) {
  return is_here(maker) && maker.pid_namespace != 0 && maker.pid_namespace == pid_namespace_name();
}

bool is_stopped(unsigned pid, const Maker& maker) {
  if (!shares_pids(maker)) return false;
  const char state = status_of(pid).state;
  return state == 'T' || state == 't';
}

Life life_of(int fd, const std::string& segment, unsigned pid, const Maker& maker) {
  const bool marked = is_marked(fd);
  if (!is_here(maker)) return marked ? Life::lives : Life::unknown;
  if (shares_pids(maker)) {
    const Status status = status_of(pid);
    const bool is_another = maker.start_ticks != 0 && status.start_ticks != maker.start_ticks;
    if (is_another || has_ended(status)) return Life::gone;
    if (maker.is_marked == 0) return may_map(pid, segment) ? Life::lives : Life::gone;
  }
  if (marked) return Life::lives;
  return maker.is_marked != 0 ? Life::gone : Life::unknown;
}

Life life_of_beginner(int fd, const std::string& segment, unsigned pid) {
  return is_marked(fd) || (!has_ended(status_of(pid)) && may_map(pid, segment)) ? Life::lives : Life::gone;
}

}  // namespace tare::format
