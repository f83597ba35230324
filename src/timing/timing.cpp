// Net and hook time by the definitions of Hunold et al. (2022), without changing the program.
//
//   hook  inside MPI_Init, MPI_Init_thread and MPI_Finalize (of sessions: MPI_Session_init, _finalize)
//   net   between leaving the first of them and entering the last
// What is left of the launcher's time is wrap; its caller computes it. Nothing else is intercepted.
//
// This library has to be the first in LD_PRELOAD of the program (tare-timing puts it there), so that what other tools
// do inside MPI_Init and MPI_Finalize lies within the times. Names are those of C, and those by which Fortran reaches
// MPI. Open MPI's Fortran functions call PMPI_X; a tool linked statically into the program is not visible above PMPI_X,
// so these are timed as well where nothing else was entered before, and the record says which it was (`entered`).
//
// Records are written when the process ends, so that neither net nor hook time holds the writing. A process that
// does not call MPI leaves none, nor does one that ends without exit handlers (_exit, a signal).
#include <pthread.h>
#include <unwind.h>

#include <atomic>
#include <cstring>

#include "format/functions.h"
#include "mpi/weak_references.h"
#include "timing/below.h"
#include "timing/record.h"

namespace tare::timing {
namespace {

// MPI_Init has 2 arguments, MPI_Init_thread 4, the Fortran ones as many and the error; all are words in registers,
// so that one signature passes them all.
using Function = long (*)(long, long, long, long);

struct Entry {
  const char* name;
  bool begins;  // else it ends
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

constexpr int mpi_err_other = 16;  // near enough in every ABI

constinit bool active = false;
constinit Times times;
constinit std::uint64_t last_leave = 0;
constinit int running = 0;  // of inits, those not yet ended
// Where the stack was when this thread came into the call that it is in; 0: in none. Stacks grow down: a call from
// further up is none that MPI makes in turn, but says that the other was left by longjmp (from an attribute's delete
// function that MPI_Finalize calls, say).
constinit thread_local std::uintptr_t inside = 0;

// Sessions may begin and end in several threads at once. Held for a few stores.
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
  last_leave = at;  // so that what another thread enters meanwhile adds no time twice
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

// The call that this thread is in does not return. Its time is neither hook nor net.
void left() noexcept {
  if (inside == 0) return;
  const std::uint64_t at = now_ns();
  lock();
  last_leave = at;
  busy.clear(std::memory_order_release);
  inside = 0;
}

// An exception, or the end of a thread, may pass (as in mpi/inside.h).
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

// The first time through costs 3 µs in page faults; it is not to be MPI_Init.
void rehearse() noexcept {
  Entry nothing[] = {{"", true, [](long, long, long, long) { return 0L; }},
                     {"", false, [](long, long, long, long) { return 0L; }}};
  for (Entry& entry : nothing) timed(entry, 0, 0, 0, 0);
  times = Times{};
}

// A child that a rank forks has its parent's times, and is no rank.
void forget_in_child() noexcept {
  if (times.first_init_enter != 0) active = false;
}

[[gnu::constructor]] void start() noexcept {
  active = prepare_record();
  if (!active) return;
  pthread_atfork(nullptr, nullptr, forget_in_child);
  rehearse();
  times.start = now_ns();
  if (below("PMPI_Init") == nullptr) return;  // MPI comes later, if at all
  for (Entry& entry : entries) entry.next = reinterpret_cast<Function>(below(entry.name));
  // An MPI without sessions: a program that tests for them must not find ours.
  mpi::null_weak_references(is_missing);
}

[[gnu::destructor]] void end() noexcept {
  if (active && times.first_init_enter != 0) write_record(times);
}

}  // namespace
}  // namespace tare::timing

// The exported names, under a version that dlsym does not see: programs that look for MPI with it find MPI.
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
