// Measures net and hook time as defined by Hunold et al. (2022), without changing the program.
//
//   hook  time inside MPI_Init, MPI_Init_thread and MPI_Finalize (with sessions: MPI_Session_init and _finalize)
//   net   time between leaving the first of them and entering the last one
// The rest of the launcher's time is the wrap time. The caller of the launcher computes it. No other functions are
// intercepted.
//
// This library has to be the first in LD_PRELOAD of the program (tare-timing puts it there), so that the times include
// what other tools do inside MPI_Init and MPI_Finalize. It exports the names of C, and those by which Fortran calls
// MPI. It also exports the PMPI_ names, because the Fortran functions of Open MPI call PMPI_X, and a tool that is
// linked statically into the program can only be seen there. A PMPI_ function is timed only if the call comes from no
// other function that is timed here. The record says by which function the program started MPI (`entered`).
//
// Records are written when the process ends, so that neither net nor hook time includes the writing. There is no record
// of a process that does not call MPI, or that ends without exit handlers (_exit, a signal).
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>
#include <unwind.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "format/functions.h"
#include "format/number.h"
#include "mpi/interposition/loaded_objects.h"
#include "mpi/interposition/weak_references.h"

namespace tare::timing {
namespace {

constexpr std::uint64_t ns_per_s = 1'000'000'000;

std::uint64_t now_ns() noexcept {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * ns_per_s + static_cast<std::uint64_t>(time.tv_nsec);
}

struct First {
  std::uintptr_t bases[2];
  int found;
};

// Finds the first object that contains one of the two addresses. dl_iterate_phdr visits the objects in the order in
// which symbols are looked up.
int visit(dl_phdr_info* info, std::size_t, void* context) noexcept {
  auto* first = static_cast<First*>(context);
  for (int i = 0; i < 2; ++i) {
    for (int segment = 0; segment < info->dlpi_phnum; ++segment) {
      const ElfW(Phdr)& header = info->dlpi_phdr[segment];
      const std::uintptr_t start = info->dlpi_addr + header.p_vaddr;
      if (header.p_type == PT_LOAD && first->bases[i] >= start && first->bases[i] < start + header.p_memsz) {
        first->found = i;
        return 1;
      }
    }
  }
  return 0;
}

void* earlier(void* left, void* right) noexcept {
  First first{{reinterpret_cast<std::uintptr_t>(left), reinterpret_cast<std::uintptr_t>(right)}, 0};
  dl_iterate_phdr(visit, &first);
  return first.found == 0 ? left : right;
}

// The function that a call would reach without this library: that of the next tool, or of MPI itself; nullptr if no
// loaded object has a symbol of that name. Calls the dynamic loader, so it must not be used during a measured call.
void* below(const char* name) noexcept {
  // dlsym does not find the symbols of libtare.so, because their version is not the default one.
  void* versioned = dlvsym(RTLD_NEXT, name, "TARE_1");
  void* plain = dlsym(RTLD_NEXT, name);
  if (versioned != nullptr && plain != nullptr && versioned != plain) return earlier(versioned, plain);
  if (versioned != nullptr) return versioned;
  if (plain != nullptr) return plain;
  return mpi::first_of_loaded([=](const link_map& object) { return mpi::symbol_of(object, name, dlsym); });
}

// The record of one process: a line of JSON, appended to $TARE_TIMING.<host> when the process ends.
// Times are CLOCK_MONOTONIC in ns; 0 if the event has not happened.
struct Times {
  std::uint64_t start = 0;  // this library's constructor
  std::uint64_t first_init_enter = 0, first_init_leave = 0;
  std::uint64_t last_finalize_enter = 0, last_finalize_leave = 0;
  // Durations. They are sums, because a program with sessions may start and end MPI several times.
  std::uint64_t init = 0, net = 0, finalize = 0;
  unsigned inits = 0, finalizes = 0;
  const char* entered = "";  // the first function by which the program started MPI
  rusage net_begin{}, net_end{};
};

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

// Reads the environment now, because the program may change it later. False if nothing is to be recorded.
bool prepare_record() noexcept {
  const char* prefix = secure_getenv("TARE_TIMING");
  if (prefix == nullptr || prefix[0] != '/') return false;
  if (gethostname(host, sizeof host - 1) != 0) std::strcpy(host, "localhost");
  if (std::snprintf(path, sizeof path, "%s.%s", prefix, host) >= static_cast<int>(sizeof path)) return false;
  rank = first_number(rank_names, 0);
  ranks = first_number(size_names, 0);
  return true;
}

// Appends the record by one write with O_APPEND, because the ranks of a node share the file. Reports a failure on
// stderr. Preserves errno.
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

// All these functions have at most 4 arguments, in C and in Fortran. All arguments are words in registers, so this
// signature fits all of them.
using Function = long (*)(long, long, long, long);

struct Entry {
  const char* name;
  bool begins;  // true: starts MPI; false: ends it
  Function next;
};

// The timed functions: X(place in `entries`, name, whether it starts MPI).
#define TARE_TIMING_FUNCTIONS(X)                                       \
  X(0, MPI_Init, true)                                                 \
  X(1, PMPI_Init, true)                                                \
  X(2, MPI_Init_thread, true)                                          \
  X(3, PMPI_Init_thread, true)                                         \
  X(4, MPI_Session_init, true)                                         \
  X(5, PMPI_Session_init, true)                                        \
  X(6, MPI_Finalize, false)                                            \
  X(7, PMPI_Finalize, false)                                           \
  X(8, MPI_Session_finalize, false)                                    \
  X(9, PMPI_Session_finalize, false)                                   \
  TARE_TIMING_FORTRAN(X, 10, mpi_init, MPI_INIT, true)                 \
  TARE_TIMING_FORTRAN(X, 15, mpi_init_thread, MPI_INIT_THREAD, true)   \
  TARE_TIMING_FORTRAN(X, 20, mpi_session_init, MPI_SESSION_INIT, true) \
  TARE_TIMING_FORTRAN(X, 25, mpi_finalize, MPI_FINALIZE, false)        \
  TARE_TIMING_FORTRAN(X, 30, mpi_session_finalize, MPI_SESSION_FINALIZE, false)
#define TARE_TIMING_FORTRAN(X, number, lower, upper, begins) \
  X(number, lower, begins)                                   \
  X(number + 1, lower##_, begins)                            \
  X(number + 2, lower##__, begins)                           \
  X(number + 3, upper, begins)                               \
  X(number + 4, lower##_f08_, begins)

#define TARE_TIMING_ENTRY(number, name, begins) {#name, begins, nullptr},
constinit Entry entries[] = {TARE_TIMING_FUNCTIONS(TARE_TIMING_ENTRY)};

constexpr int mpi_err_other = 16;  // an error code; the exact value depends on the ABI and does not matter

constinit bool active = false;
constinit Times times;
constinit std::uint64_t last_leave = 0;
constinit int running = 0;  // number of initialisations that have not been finalised yet
// The stack address at which this thread entered the timed call that it is in; 0: it is in none. Stacks grow down, so a
// call that MPI makes inside that call has a lower address. A call with a higher address shows that the timed call was
// left by longjmp, for example from the delete function of an attribute that MPI_Finalize called.
constinit thread_local std::uintptr_t inside = 0;

// A spin lock that is held for a few stores, because sessions may begin and end in several threads at once.
constinit std::atomic_flag busy;

void lock() noexcept {
  while (busy.test_and_set(std::memory_order_acquire)) {
  }
}

void entering(const Entry& entry, std::uint64_t at) noexcept {
  if (!entry.begins) getrusage(RUSAGE_SELF, &times.net_end);
  lock();
  if (running > 0) times.net += at - last_leave;
  if (entry.begins && times.first_init_enter == 0) {
    times.first_init_enter = at;
    times.entered = entry.name;
  }
  if (!entry.begins) times.last_finalize_enter = at;
  last_leave = at;  // so that no time is added twice if another thread enters a function in the meantime
  busy.clear(std::memory_order_release);
}

void leaving(const Entry& entry, std::uint64_t entered_at) noexcept {
  if (entry.begins && times.inits == 0) getrusage(RUSAGE_SELF, &times.net_begin);
  const std::uint64_t at = now_ns();
  lock();
  if (entry.begins) {
    times.init += at - entered_at;
    if (times.inits++ == 0) times.first_init_leave = at;
    ++running;
  } else {
    times.finalize += at - entered_at;
    times.last_finalize_leave = at;
    ++times.finalizes;
    --running;
  }
  last_leave = at;
  busy.clear(std::memory_order_release);
}

// The timed call that this thread is in, if any, does not return. Its time is neither hook nor net time.
void left() noexcept {
  if (inside == 0) return;
  const std::uint64_t at = now_ns();
  lock();
  last_leave = at;
  busy.clear(std::memory_order_release);
  inside = 0;
}

// Personality routine: called if an exception, or the end of a thread, unwinds a timed call (stack/inside.h
// does the same).
[[gnu::used]] _Unwind_Reason_Code unwound(int, _Unwind_Action actions, _Unwind_Exception_Class, _Unwind_Exception*,
                                          _Unwind_Context*) noexcept __asm__("tare_timing_unwound");
_Unwind_Reason_Code unwound(int, _Unwind_Action actions, _Unwind_Exception_Class, _Unwind_Exception*,
                            _Unwind_Context*) noexcept {
  if ((actions & _UA_CLEANUP_PHASE) != 0) left();
  return _URC_CONTINUE_UNWIND;
}

long timed(Entry& entry, long a, long b, long c, long d) noexcept {
  if (entry.next == nullptr) entry.next = reinterpret_cast<Function>(below(entry.name));
  if (entry.next == nullptr) return mpi_err_other;
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  if (!active || here < inside) return entry.next(a, b, c, d);
  left();
  __asm__ volatile(".cfi_personality 0x1b, tare_timing_unwound");
  inside = here;
  const std::uint64_t at = now_ns();
  entering(entry, at);
  const long result = entry.next(a, b, c, d);
  leaving(entry, at);
  inside = 0;
  return result;
}

bool is_missing(unsigned number) noexcept {
  const char* name = format::function_name(number);
  for (const Entry& entry : entries)
    if (std::strcmp(entry.name, name) == 0) return entry.next == nullptr;
  return false;
}

// Executes the code once before MPI_Init, because the first execution takes 3 µs of page faults.
void rehearse() noexcept {
  Entry nothing[] = {{"", true, [](long, long, long, long) { return 0L; }},
                     {"", false, [](long, long, long, long) { return 0L; }}};
  for (Entry& entry : nothing) timed(entry, 0, 0, 0, 0);
  times = Times{};
}

// A child that a rank forks is no rank, and must not write the times of its parent.
void reset_in_child() noexcept {
  if (times.first_init_enter != 0) active = false;
}

[[gnu::constructor]] void start() noexcept {
  active = prepare_record();
  if (!active) return;
  pthread_atfork(nullptr, nullptr, reset_in_child);
  rehearse();
  times.start = now_ns();
  if (below("PMPI_Init") == nullptr) return;  // MPI may be loaded later
  for (Entry& entry : entries) entry.next = reinterpret_cast<Function>(below(entry.name));
  // If the MPI library has no sessions, a program that tests for them by weak references must not find these functions.
  mpi::null_weak_references(is_missing);
}

[[gnu::destructor]] void end() noexcept {
  if (active && times.first_init_enter != 0) write_record(times);
}

}  // namespace
}  // namespace tare::timing

// The exported names. Their version is not the default one, so dlsym does not find them: programs that look for MPI
// with dlsym find the MPI library.
#define TARE_TIMING_EXPORT(number, name, begins)                                                                 \
  extern "C" [[gnu::used, gnu::visibility("default")]] long tare_timing_##name(long a, long b, long c, long d) { \
    return tare::timing::timed(tare::timing::entries[number], a, b, c, d);                                       \
  }                                                                                                              \
  __asm__(".symver tare_timing_" #name ", " #name "@TARE_TIMING_1, remove");

TARE_TIMING_FUNCTIONS(TARE_TIMING_EXPORT)
