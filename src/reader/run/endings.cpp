#include "reader/run/endings.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "format/segment_name.h"
#include "reader/store/segment_file.h"

namespace tare::reader {
namespace {

// From <linux/pidfd.h> of Linux 6.15, because the installed headers may be older.
struct PidfdInfo {
  std::uint64_t mask;
  std::uint64_t cgroup;
  std::uint32_t ids[11];
  std::int32_t exit_code;
};
constexpr int moment_ms = 200;
constexpr std::uint64_t pidfd_info_exit = 1U << 3U;
constexpr unsigned long pidfd_get_info = _IOWR(0xFF, 11, PidfdInfo);

std::uint64_t raw_clock_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC_RAW, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(time.tv_nsec);
}

// The status of a process that its parent has waited for. Needs Linux 6.15.
std::optional<int> status_of(int pidfd) {
  PidfdInfo info{};
  info.mask = pidfd_info_exit;
  if (ioctl(pidfd, pidfd_get_info, &info) != 0 || (info.mask & pidfd_info_exit) == 0) return std::nullopt;
  return info.exit_code;
}

// The status of a process that its parent has not waited for yet: the last field of /proc/PID/stat. The kernel shows it
// only to those who may trace the process.
std::optional<int> status_of_zombie(std::uint32_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/stat";
  std::FILE* file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return std::nullopt;
  char line[1024] = "";
  const bool read = std::fgets(line, sizeof line, file) != nullptr;
  std::fclose(file);
  const char* name_end = read ? std::strrchr(line, ')') : nullptr;
  const char* last = std::strrchr(line, ' ');
  if (name_end == nullptr || std::strncmp(name_end, ") Z", 3) != 0 || last == nullptr) return std::nullopt;
  return std::atoi(last);
}

// Descriptors are given out from the lowest, so the newest tells how many are left.
bool leaves_descriptors(int newest) {
  constexpr rlim_t reserve = 128;
  rlimit limit{};
  return getrlimit(RLIMIT_NOFILE, &limit) != 0 || static_cast<rlim_t>(newest) + reserve <= limit.rlim_cur;
}

bool add(int events, int fd, std::uint32_t what) {
  epoll_event event{};
  event.events = what;
  event.data.fd = fd;
  return epoll_ctl(events, EPOLL_CTL_ADD, fd, &event) == 0;
}

}  // namespace

EndingWatch::EndingWatch(const std::vector<std::string>& directories, const std::string& run_id, const Owners& owners,
                         By by)
    : prefix_("tare-" + run_id + "-"),
      owners_(owners),
      names_(inotify_init1(IN_CLOEXEC | IN_NONBLOCK)),
      events_(epoll_create1(EPOLL_CLOEXEC)),
      stopped_(eventfd(0, EFD_CLOEXEC)) {
  if (names_ < 0 || events_ < 0 || stopped_ < 0) return;
  for (const std::string& directory : directories) {
    const int number = inotify_add_watch(names_, directory.c_str(), IN_CREATE);
    if (number >= 0) directories_[number] = directory;
  }
  if (!add(events_, names_, EPOLLIN) || !add(events_, stopped_, EPOLLIN)) return;
  if (by == By::caller) return;
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // the thread inherits this, so that other threads get all signals
  thread_ = std::thread([this] { run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

EndingWatch::~EndingWatch() {
  if (thread_.joinable()) {
    const std::uint64_t one = 1;
    if (write(stopped_, &one, sizeof one) == sizeof one) thread_.join();
  }
  for (const auto& [pidfd, watched] : watched_) close(pidfd);
  for (const int fd : {names_, events_, stopped_})
    if (fd >= 0) close(fd);
}

void EndingWatch::take_present() {
  const std::lock_guard lock(mutex_);
  const std::string run_id = prefix_.substr(prefix_.find('-') + 1, format::run_id_digits);
  for (const auto& [number, directory] : directories_)
    for (const SegmentName& name : list_segments(directory, run_id, owners_).names) take(name.file.c_str());
}

std::size_t EndingWatch::living() {
  const std::lock_guard lock(mutex_);
  take_ready();
  return static_cast<std::size_t>(
      std::count_if(watched_.begin(), watched_.end(), [](const auto& each) { return each.second.ended_ns == 0; }));
}

std::vector<Ending> EndingWatch::ended() {
  const std::lock_guard lock(mutex_);
  take_ready();
  std::vector<Ending> ended;
  for (const auto& [pidfd, watched] : watched_) {
    take_end(pidfd);
    if (watched.ended_ns != 0) ended.push_back({watched.pid, watched.ended_ns, watched.status});
  }
  std::sort(ended.begin(), ended.end(), [](const Ending& a, const Ending& b) { return a.ended_ns < b.ended_ns; });
  return ended;
}

std::optional<Ending> EndingWatch::ending_of(const std::string& segment) {
  const std::lock_guard lock(mutex_);
  take_ready();
  for (const auto& [pidfd, watched] : watched_) {
    if (std::find(watched.segments.begin(), watched.segments.end(), segment) == watched.segments.end()) continue;
    pollfd ends{pidfd, POLLIN, 0};
    poll(&ends, 1, moment_ms);
    take_end(pidfd);
    if (watched.ended_ns != 0) return Ending{watched.pid, watched.ended_ns, watched.status};
  }
  return std::nullopt;
}

void EndingWatch::run() {
  pollfd ready{events_, POLLIN, 0};
  for (;;) {
    if (poll(&ready, 1, -1) < 0 && errno != EINTR) return;
    const std::lock_guard lock(mutex_);
    if (take_ready()) return;
  }
}

// Handles the events that have happened so far. True if the thread has to stop.
bool EndingWatch::take_ready() {
  epoll_event ready[64];
  const int count = epoll_wait(events_, ready, 64, 0);
  bool stops = false;
  for (int i = 0; i < count; ++i) {
    const int fd = ready[i].data.fd;
    if (fd == names_) take_names();
    if (watched_.contains(fd)) take_end(fd);
    stops = stops || fd == stopped_;
  }
  return stops;
}

void EndingWatch::take_names() {
  alignas(inotify_event) char buffer[4096];
  for (;;) {
    const ssize_t bytes = read(names_, buffer, sizeof buffer);
    if (bytes <= 0) return;
    for (ssize_t at = 0; at < bytes;) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer + at);
      at += static_cast<ssize_t>(sizeof *event + event->len);
      if (event->len == 0 || std::strncmp(event->name, prefix_.c_str(), prefix_.size()) != 0) continue;
      if (is_trusted(event->wd, event->name)) take(event->name);
    }
  }
}

// Every user can create files with such names in shared memory.
bool EndingWatch::is_trusted(int directory, const char* segment) const {
  const auto at = directories_.find(directory);
  struct stat status {};
  return at != directories_.end() && lstat((at->second + "/" + segment).c_str(), &status) == 0 && owners_.trust(status);
}

void EndingWatch::take(const char* segment) {
  const auto pid = static_cast<std::uint32_t>(std::strtoul(segment + prefix_.size(), nullptr, 10));
  if (pid == 0) return;
  for (auto& [pidfd, watched] : watched_) {
    if (watched.pid != pid) continue;
    take_end(pidfd);  // this may be an earlier process that had the same pid
    if (watched.ended_ns != 0) continue;
    watched.segments.emplace_back(segment);
    return;
  }
  const int pidfd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));  // always close-on-exec
  if (pidfd < 0) return;
  if (leaves_descriptors(pidfd) && add(events_, pidfd, EPOLLIN))
    watched_[pidfd] = {pid, 0, std::nullopt, {segment}};
  else
    close(pidfd);
}

// A pidfd becomes readable (POLLIN) when the process dies, and reports POLLHUP when its parent has waited for it.
void EndingWatch::take_end(int pidfd) {
  Watched& watched = watched_[pidfd];
  epoll_event event{};
  event.data.fd = pidfd;
  if (watched.ended_ns == 0) {
    pollfd lives{pidfd, POLLIN, 0};
    if (poll(&lives, 1, 0) <= 0) return;
    watched.ended_ns = raw_clock_ns();
    watched.status = status_of_zombie(watched.pid);
    epoll_ctl(events_, EPOLL_CTL_MOD, pidfd, &event);  // EPOLLHUP is reported without being asked for
  }
  if (!watched.status) watched.status = status_of(pidfd);
  if (watched.status) epoll_ctl(events_, EPOLL_CTL_DEL, pidfd, nullptr);
}

}  // namespace tare::reader
