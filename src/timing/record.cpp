#include "timing/record.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "format/number.h"

namespace tare::timing {
namespace {

constexpr std::uint64_t ns_per_s = 1'000'000'000;
constexpr int host_bytes = 256;

// Variables in which launchers pass the rank and the number of ranks. MPI is not asked, because that would be a call
// that the program does not make.
constexpr const char* rank_names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK",   "PMI_RANK",    "SLURM_PROCID",
                                      "PALS_RANKID",          "ALPS_APP_PE", "MPT_MPI_RANK"};
constexpr const char* size_names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS", "MPT_MPI_SIZE"};

constinit char path[PATH_MAX] = {};
constinit char host[host_bytes] = {};
constinit long rank = 0;
constinit long ranks = 0;  // 0: the launcher does not say

template <std::size_t N>
long first_number(const char* const (&names)[N], long otherwise) noexcept {
  for (const char* name : names) {
    const char* text = secure_getenv(name);
    if (text == nullptr || *text == '\0') continue;
    std::uint64_t value = 0;
    if (format::parse_count(text, value) && value <= LONG_MAX) return static_cast<long>(value);
  }
  return otherwise;
}

long long cpu_ns(const timeval& time) noexcept {
  return static_cast<long long>(time.tv_sec) * 1'000'000'000 + static_cast<long long>(time.tv_usec) * 1000;
}

long long difference_ns(const timeval& end, const timeval& begin) noexcept { return cpu_ns(end) - cpu_ns(begin); }

void warn(const char* what) noexcept {
  char text[PATH_MAX + 128];
  const int length = std::snprintf(text, sizeof text, "tare-timing: %s: %s: %s\n", path, what, strerror(errno));
  if (length > 0 && write(STDERR_FILENO, text, static_cast<std::size_t>(length)) < 0) return;
}

int format(char* line, std::size_t size, const Times& times) noexcept {
  rusage all{};
  getrusage(RUSAGE_SELF, &all);
  timespec wall{};
  clock_gettime(CLOCK_REALTIME, &wall);
  const std::uint64_t end = now_ns();
  return std::snprintf(
      line, size,
      "{\"schema\": \"tare.timing/1\", \"host\": \"%s\", \"pid\": %d, \"rank\": %ld, \"ranks\": %ld, "
      "\"entered\": \"%s\", \"inits\": %u, \"finalizes\": %u, \"start_ns\": %llu, \"init_enter_ns\": %llu, "
      "\"init_leave_ns\": %llu, \"finalize_enter_ns\": %llu, \"finalize_leave_ns\": %llu, \"end_ns\": %llu, "
      "\"realtime_ns\": %llu, \"init_ns\": %llu, \"net_ns\": %llu, \"finalize_ns\": %llu, \"net_user_ns\": %lld, "
      "\"net_system_ns\": %lld, \"user_ns\": %lld, \"system_ns\": %lld, \"max_rss_kib\": %ld, "
      "\"net_waits\": %ld, \"net_preempted\": %ld, \"major_faults\": %ld}\n",
      host, static_cast<int>(getpid()), rank, ranks, times.entered, times.inits, times.finalizes,
      static_cast<unsigned long long>(times.start), static_cast<unsigned long long>(times.first_init_enter),
      static_cast<unsigned long long>(times.first_init_leave),
      static_cast<unsigned long long>(times.last_finalize_enter),
      static_cast<unsigned long long>(times.last_finalize_leave), static_cast<unsigned long long>(end),
      static_cast<unsigned long long>(wall.tv_sec) * ns_per_s + static_cast<unsigned long long>(wall.tv_nsec),
      static_cast<unsigned long long>(times.init), static_cast<unsigned long long>(times.net),
      static_cast<unsigned long long>(times.finalize), difference_ns(times.net_end.ru_utime, times.net_begin.ru_utime),
      difference_ns(times.net_end.ru_stime, times.net_begin.ru_stime), cpu_ns(all.ru_utime), cpu_ns(all.ru_stime),
      all.ru_maxrss, times.net_end.ru_nvcsw - times.net_begin.ru_nvcsw,
      times.net_end.ru_nivcsw - times.net_begin.ru_nivcsw, all.ru_majflt);
}

}  // namespace

std::uint64_t now_ns() noexcept {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * ns_per_s + static_cast<std::uint64_t>(time.tv_nsec);
}

bool prepare_record() noexcept {
  const char* prefix = secure_getenv("TARE_TIMING");
  if (prefix == nullptr || prefix[0] != '/') return false;
  if (gethostname(host, sizeof host - 1) != 0) std::strcpy(host, "localhost");
  if (std::snprintf(path, sizeof path, "%s.%s", prefix, host) >= static_cast<int>(sizeof path)) return false;
  rank = first_number(rank_names, 0);
  ranks = first_number(size_names, 0);
  return true;
}

void write_record(const Times& times) noexcept {
  const int saved = errno;
  char line[2048];
  const int length = format(line, sizeof line, times);
  const int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) {
    warn("cannot open it");
  } else {
    if (length <= 0 || write(file, line, static_cast<std::size_t>(length)) != length) warn("cannot write to it");
    close(file);
  }
  errno = saved;
}

}  // namespace tare::timing
