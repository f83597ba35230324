#include "reader/store/liveness.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>

namespace tare::reader {
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
  std::uint64_t started_ticks = 0;  // after boot
};

Status status_of(unsigned pid) {
  const File file = open_of(pid, "stat");
  char line[1024];
  if (!file || std::fgets(line, sizeof line, file.get()) == nullptr) return {};
  const char* name_end = std::strrchr(line, ')');  // the name itself may contain ')'
  if (name_end == nullptr || name_end[1] != ' ') return {};
  Status status;
  // proc(5): fields 3 and 22.
  if (std::sscanf(name_end + 2, "%c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %" SCNu64,
                  &status.state, &status.started_ticks) < 1)
    return {};
  return status;
}

std::uint64_t clock_ns(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(time.tv_nsec);
}

// Allows for the accuracy of the times: the rates of the two clocks differ by up to 500 ppm, and the start of a process
// is known in clock ticks (sysconf(_SC_CLK_TCK)).
bool started_after(const Status& status, std::uint64_t raw_ns) {
  const std::uint64_t now_raw_ns = clock_ns(CLOCK_MONOTONIC_RAW);
  if (raw_ns > now_raw_ns) return true;  // the machine has been restarted since
  const std::uint64_t ago_ns = now_raw_ns - raw_ns;
  const std::uint64_t tolerance_ns = 1'000'000'000U + ago_ns / 1000;
  const std::uint64_t tick_ns = 1'000'000'000U / static_cast<std::uint64_t>(sysconf(_SC_CLK_TCK));
  const std::uint64_t now_ns = clock_ns(CLOCK_BOOTTIME);
  return status.started_ticks * tick_ns + ago_ns > now_ns + tolerance_ns;
}

// Whether a process whose mappings may not be read can be the maker.
bool can_be(unsigned pid, const Status& status, const Maker& maker) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%u", pid);
  struct stat owner {};
  // If a process may not be inspected, its files in /proc belong to the superuser, whoever owns the process.
  const bool is_anothers = maker.owner && stat(path, &owner) == 0 && owner.st_uid != 0 && owner.st_uid != *maker.owner;
  return !is_anothers && (maker.began_recording == 0 || !started_after(status, maker.began_recording));
}

}  // namespace

bool is_stopped(unsigned pid) {
  const char state = status_of(pid).state;
  return state == 'T' || state == 't';
}

std::string segment_suffix(unsigned pid, std::uint64_t process) {
  char name[48];
  std::snprintf(name, sizeof name, "-%u-%016" PRIx64, pid, process);
  return name;
}

bool is_alive(unsigned pid, const std::string& segment, const Maker& maker) {
  const Status status = pid == 0 ? Status{} : status_of(pid);
  if (status.state == 0 || status.state == 'Z' || status.state == 'X') return false;
  errno = 0;
  const File maps = open_of(pid, "maps");
  if (!maps) return (errno == EACCES || errno == EPERM) && can_be(pid, status, maker);
  char* line = nullptr;
  std::size_t capacity = 0;
  bool found = false;
  while (!found && ::getline(&line, &capacity, maps.get()) > 0) found = std::strstr(line, segment.c_str()) != nullptr;
  const bool refused = std::ferror(maps.get()) != 0 && (errno == EACCES || errno == EPERM);
  std::free(line);
  return found || (refused && can_be(pid, status, maker));
}

}  // namespace tare::reader
