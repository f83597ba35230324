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
#include <pthread.h>
#include <unwind.h>

#include <atomic>
#include <cstring>

#include "format/functions.h"
#include "mpi/interposition/weak_references.h"
#include "timing/below.h"
#include "timing/record.h"

namespace tare::timing {
namespace {

// All these functions have at most 4 arguments, in C and in Fortran. All arguments are words in registers, so this
// signature fits all of them.
using Function = long (*)(long, long, long, long);

struct Entry {
  const char* name;
  bool begins;  // true: starts MPI; false: ends it
  Function next;
};

#define TARE_TIMING_FORTRAN(lower, upper, begins)                                                                    \
  {lower, begins, nullptr}, {lower "_", begins, nullptr}, {lower "__", begins, nullptr}, {upper, begins, nullptr}, { \
    lower "_f08_", begins, nullptr                                                                                   \
  }

// The order is that of the exported functions at the end.
constinit Entry entries[] = {
    {"MPI_Init", true, nullptr},
    {"PMPI_Init", true, nullptr},
    {"MPI_Init_thread", true, nullptr},
    {"PMPI_Init_thread", true, nullptr},
    {"MPI_Session_init", true, nullptr},
    {"PMPI_Session_init", true, nullptr},
    {"MPI_Finalize", false, nullptr},
    {"PMPI_Finalize", false, nullptr},
    {"MPI_Session_finalize", false, nullptr},
    {"PMPI_Session_finalize", false, nullptr},
    TARE_TIMING_FORTRAN("mpi_init", "MPI_INIT", true),
    TARE_TIMING_FORTRAN("mpi_init_thread", "MPI_INIT_THREAD", true),
    TARE_TIMING_FORTRAN("mpi_session_init", "MPI_SESSION_INIT", true),
    TARE_TIMING_FORTRAN("mpi_finalize", "MPI_FINALIZE", false),
    TARE_TIMING_FORTRAN("mpi_session_finalize", "MPI_SESSION_FINALIZE", false),
};

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
#define TARE_TIMING_EXPORT(number, name)                                                                         \
  extern "C" [[gnu::used, gnu::visibility("default")]] long tare_timing_##name(long a, long b, long c, long d) { \
    return tare::timing::timed(tare::timing::entries[number], a, b, c, d);                                       \
  }                                                                                                              \
  __asm__(".symver tare_timing_" #name ", " #name "@TARE_TIMING_1, remove");

#define TARE_TIMING_EXPORT_FORTRAN(number, lower, upper) \
  TARE_TIMING_EXPORT(number, lower)                      \
  TARE_TIMING_EXPORT(number + 1, lower##_)               \
  TARE_TIMING_EXPORT(number + 2, lower##__)              \
  TARE_TIMING_EXPORT(number + 3, upper)                  \
  TARE_TIMING_EXPORT(number + 4, lower##_f08_)

TARE_TIMING_EXPORT(0, MPI_Init)
TARE_TIMING_EXPORT(1, PMPI_Init)
TARE_TIMING_EXPORT(2, MPI_Init_thread)
TARE_TIMING_EXPORT(3, PMPI_Init_thread)
TARE_TIMING_EXPORT(4, MPI_Session_init)
TARE_TIMING_EXPORT(5, PMPI_Session_init)
TARE_TIMING_EXPORT(6, MPI_Finalize)
TARE_TIMING_EXPORT(7, PMPI_Finalize)
TARE_TIMING_EXPORT(8, MPI_Session_finalize)
TARE_TIMING_EXPORT(9, PMPI_Session_finalize)
TARE_TIMING_EXPORT_FORTRAN(10, mpi_init, MPI_INIT)
TARE_TIMING_EXPORT_FORTRAN(15, mpi_init_thread, MPI_INIT_THREAD)
TARE_TIMING_EXPORT_FORTRAN(20, mpi_session_init, MPI_SESSION_INIT)
TARE_TIMING_EXPORT_FORTRAN(25, mpi_finalize, MPI_FINALIZE)
TARE_TIMING_EXPORT_FORTRAN(30, mpi_session_finalize, MPI_SESSION_FINALIZE)
