#include "mpi/interposition/dispatch.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "format/sample_spec.h"
#include "mpi/calls/left_call.h"
#include "mpi/interposition/library.h"
#include "mpi/interposition/program_code.h"
#include "mpi/interposition/real_dlsym.h"
#include "mpi/interposition/stubs.h"
#include "mpi/interposition/tool.h"
#include "mpi/interposition/weak_references.h"
#include "recorder/clock.h"
#include "recorder/environment.h"
#include "recorder/inside.h"
#include "recorder/system.h"
#include "recorder/warning.h"
#include "stack/inside.h"
#include "stack/own_code.h"

extern "C" {
// Where the first call goes. `entry`: twice the number of the function, plus 1 if it was called as PMPI_X.
// `stack`: the stack pointer of the frame that calls.
[[gnu::visibility("hidden")]] void* tare_resolve(unsigned entry, const void* caller, std::uintptr_t stack) noexcept;
// Where the first call of an asked stub goes (stubs.h).
[[gnu::visibility("hidden")]] void* tare_resolve_asked(unsigned slot, const void* caller) noexcept;
// Where a call goes that is made while tare_inside is set. The last arguments are the registers of the calling frame
// (Frame).
[[gnu::visibility("hidden")]] void* tare_nested(unsigned entry, std::uintptr_t return_address, std::uintptr_t stack,
                                                std::uintptr_t base) noexcept;
}

namespace tare::mpi {

namespace {

using format::Abi;
using recorder::warn;

// Where MPI's variables are. A program that is not position-independent has copies of them, and the copies are used.
// The default search order finds them.
void* lookup_variable(const char* symbol, void* library) noexcept {
  void* address = real_dlsym(RTLD_DEFAULT, symbol);
  return address != nullptr ? address : real_dlsym(library, symbol);
}

// For a function that the loaded library is too old to have. Its error class differs between ABIs; MPI_ERR_OTHER is
// similar in all.
int missing_function() noexcept { return 16; }

// Fills the tables. Threads that do so at the same time write the same values, so no lock is held across calls of the
// loader.
void fill_next(const Library& library) noexcept {
  void* const none = reinterpret_cast<void*>(&missing_function);
  char name[128];
  for (unsigned i = 1; i <= format::mpi_function_count; ++i) {
    std::snprintf(name, sizeof name, "P%s", format::function_name(i));
    void* next = real_dlsym(RTLD_NEXT, name + 1);
    void* own = real_dlsym(library.handle, name + 1);
    void* profiling = real_dlsym(library.handle, name);
    if (own == nullptr) own = profiling;
    if (profiling == nullptr) profiling = own;
    if (next == nullptr) next = own;
    missing[i] = next == nullptr;
    tare_next[i] = missing[i] ? none : next;
    tare_library[i] = tare_profiling_next[i] = profiling == nullptr ? none : profiling;
    tare_tools[i] = next != own ? next : nullptr;
    below_table[i] = has_tool(i) ? tare_tool_entries[i] : tare_next[i];
  }
}

void fill_nested(const NestedWrapper* nested) noexcept {
  for (; nested->function != Function::none; ++nested) {
    const auto i = static_cast<unsigned>(nested->function);
    if (missing[i]) continue;
    tare_next[i] = nested->wrapper;
    tare_profiling_next[i] = nested->profiling_wrapper;
  }
}

// Leads the calls of a function to its wrapper.
void wrap(unsigned number, void* wrapper) noexcept {
  if (missing[number]) return;  // stays with tare_resolve, which reports it
  tare_profiling_wrappers[number] = wrapper;
  tare_profiling_slots[number] = has_tool(number) ? tare_profiling_entries[number] : wrapper;
  tare_slots[number] = wrapper;
}

void wrap_all(const Tables& tables) noexcept {
  const bool timed = lookups_timed();
  for (unsigned i = 1; i <= format::mpi_function_count; ++i)
    wrap(i, (timed ? tables.timed : has_tool(i) ? tables.counted_around_tool : tables.counted)[i]);
  if (!sampling_asked()) return;
  for (const SampledWrapper* each = tables.sampled; each->function != Function::none; ++each)
    wrap(static_cast<unsigned>(each->function), each->wrapper);
}

void only_forward() noexcept {
  for (unsigned i = 1; i <= format::mpi_function_count; ++i) {
    if (missing[i]) continue;
    tare_profiling_slots[i] = tare_library[i];
    tare_slots[i] = tare_next[i];
  }
}

constinit std::atomic<bool> attached{false};

// Prints a problem once in a process, not at every call.
void warn_once(const char* text) noexcept {
  static constinit bool said = false;
  if (!said) warn(text);
  said = true;
}

void attach(const void* caller, const void* asked) noexcept {
  recorder::choose_clock();
  const std::uint64_t start = recorder::now();
  const Library library = find_library(caller, asked);
  if (library.handle == nullptr) {
    warn_once("a call of MPI, but no MPI library is loaded: link the program with one");
    return;
  }
  const Tables* tables = recording() ? tables_for(library.abi) : nullptr;
  fill_next(library);
  note_program(caller);
  if (tables != nullptr && !tables->bind(lookup_variable, library.handle)) tables = nullptr;
  if (tables == nullptr && recording() && tables_for(Abi::mpich) != nullptr) {
    char text[512];
    std::snprintf(text, sizeof text, "%s has a binary interface that tare does not know: not measured", library.path);
    warn(text);
  }
  if (tables != nullptr) {
    wrap_all(*tables);
    fill_nested(tables->nested);
  } else if (router != nullptr) {
    router->fill(library, lookup_variable);
  } else {
    only_forward();
  }
  null_weak_references([](unsigned function) { return missing[function]; });
  if (tables != nullptr) tables->attached(recorder::now() - start);
  attached.store(true, std::memory_order_release);
  settle_asked();
}

}  // namespace

bool is_attached() noexcept { return attached.load(std::memory_order_acquire); }

void attach_once(const void* caller, const void* asked) noexcept {
  // This thread's calls while it attaches (by a constructor that the loader runs) are not the program's.
  const recorder::OwnCode own;
  if (!is_attached()) attach(caller, asked);
}

bool recording() noexcept {
  const char* run_dir = secure_getenv("TARE_RUN_DIR");
  return run_dir != nullptr && run_dir[0] == '/';
}

bool lookups_timed() noexcept {
  const char* text = secure_getenv("TARE_LOOKUPS");
  if (text == nullptr || *text == '\0') return false;
  const bool timed = std::strcmp(text, "time") == 0;
  if (!timed) recorder::warn_of("TARE_LOOKUPS", text, "time");
  return timed;
}

bool sampling_asked() noexcept {
  const char* text = secure_getenv("TARE_SAMPLE");
  if (text == nullptr) return false;
  format::SampleSpec spec;
  const char* wrong = format::parse_sample_spec(text, spec);
  const char* trace = secure_getenv("TARE_TRACE");
  if (wrong == nullptr && spec.method == format::SampleMethod::write && (trace == nullptr || *trace != '1'))
    wrong = "write needs a trace (--trace)";
  if (wrong == nullptr) return true;
  char line[512];
  std::snprintf(line, sizeof line, "TARE_SAMPLE=%.200s: %s; messages are not sampled", text, wrong);
  warn_once(line);
  return false;
}

}  // namespace tare::mpi

void* tare_resolve(unsigned entry, const void* caller, std::uintptr_t stack) noexcept {
  using namespace tare::mpi;
  const unsigned number = entry / 2;
  if (router != nullptr && is_attached() && !missing[number]) return router->destination(entry, caller, stack);
  const tare::recorder::ErrnoGuard guard;
  attach_once(caller, nullptr);
  if (is_attached() && !missing[number]) return entry % 2 != 0 ? tare_profiling_slots[number] : tare_slots[number];
  if (!is_attached()) return reinterpret_cast<void*>(&missing_function);
  char text[256];
  std::snprintf(text, sizeof text, "the program calls %s, which the loaded MPI library does not have",
                tare::format::function_name(number));
  warn_once(text);
  return reinterpret_cast<void*>(&missing_function);
}

void* tare_resolve_asked(unsigned slot, const void* caller) noexcept {
  using namespace tare::mpi;
  const tare::recorder::ErrnoGuard guard;
  void* address = asked_function(slot);
  attach_once(caller, address);
  settle_asked();  // a stub may have been returned at the same time
  void* next = asked_destination(slot);
  return next == nullptr ? address : next;
}

void* tare_nested(unsigned entry, std::uintptr_t return_address, std::uintptr_t stack, std::uintptr_t base) noexcept {
  using namespace tare::mpi;
  const unsigned number = entry / 2;
  const bool profiling = entry % 2 != 0;
  // A wrapper calls what lies below it, and never a stub. So what it has called has left the stack by a jump to this
  // one.
  const bool by_jump = tare::stack::is_own_code(return_address);
  if (by_jump || tare::stack::is_inside({return_address, stack, base})) {
    begins_inside(static_cast<Function>(number), !by_jump && is_of_program(return_address));
    if (profiling) return tare_profiling_next[number];
    if (has_tool(number) && runs_away(number, stack, by_jump)) return tare_library[number];
    return tare_next[number];
  }
  return profiling ? tare_profiling_slots[number] : tare_slots[number];
}
