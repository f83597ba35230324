#include "mpi/dispatch.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "format/sample_spec.h"
#include "mpi/dlsym.h"
#include "mpi/inside.h"
#include "mpi/library.h"
#include "mpi/weak_references.h"
#include "recorder/clock.h"
#include "recorder/system.h"

extern "C" {
constinit thread_local std::uintptr_t tare_inside = 0;
[[gnu::visibility("hidden")]] void* tare_resolve(unsigned number, const void* caller) noexcept;
// Where a call goes that is made while tare_inside is set. `entry`: twice the number of the function, plus 1 if it was
// called as PMPI_X. The other arguments are the registers of the calling frame (Frame).
[[gnu::visibility("hidden")]] void* tare_nested(unsigned entry, std::uintptr_t return_address, std::uintptr_t stack,
                                                std::uintptr_t base) noexcept;
}

namespace tare::mpi {

constinit void* below_table[format::function_count + 1] = {};
constinit void* profiling_below_table[format::function_count + 1] = {};

namespace {

using format::Abi;
using recorder::complain;

// Where MPI's variables are. A program that is not position-independent has copies of them, and the copies are used.
// The default search order finds them.
void* lookup_variable(const char* symbol, void* library) noexcept {
  void* address = real_dlsym(RTLD_DEFAULT, symbol);
  return address != nullptr ? address : real_dlsym(library, symbol);
}

// For a function that the loaded library is too old to have. Its error class differs between ABIs; MPI_ERR_OTHER is
// similar in all.
int missing_function() noexcept { return 16; }

constinit bool missing[format::function_count + 1] = {};

// Fills the tables. Threads that do so at the same time write the same values, so no lock is held across calls of the
// loader.
void fill_next(const Library& library) noexcept {
  char name[128];
  for (unsigned i = 1; i <= format::function_count; ++i) {
    std::snprintf(name, sizeof name, "P%s", format::function_name(i));
    void* next = real_dlsym(RTLD_NEXT, name + 1);
    if (next == nullptr) next = real_dlsym(library.handle, name + 1);
    void* profiling = real_dlsym(library.handle, name);
    if (profiling == nullptr) profiling = next;
    if (next == nullptr) next = profiling;
    missing[i] = next == nullptr;
    below_table[i] = tare_next[i] = missing[i] ? reinterpret_cast<void*>(&missing_function) : next;
    profiling_below_table[i] = tare_profiling_next[i] = missing[i] ? tare_next[i] : profiling;
  }
}

// Another tool lies below. It calls PMPI_X by itself, and its calls for functions that are only counted would be
// counted twice.
bool chained(const Library& library) noexcept {
  return real_dlsym(RTLD_NEXT, "MPI_Init") != nullptr &&
         real_dlsym(RTLD_NEXT, "MPI_Init") != real_dlsym(library.handle, "MPI_Init");
}

void fill_nested(const NestedWrapper* nested) noexcept {
  for (; nested->function != Function::none; ++nested) {
    const auto i = static_cast<unsigned>(nested->function);
    if (missing[i]) continue;
    tare_next[i] = nested->wrapper;
    tare_profiling_next[i] = nested->profiling_wrapper;
  }
}

void fill_slots(void* const* wrappers, bool has_tool) noexcept {
  for (unsigned i = 1; i <= format::function_count; ++i) {
    if (missing[i]) continue;  // stays with tare_resolve, which reports it
    tare_slots[i] = wrappers == nullptr ? below_table[i] : wrappers[i];
    const bool profiling_wrapped = wrappers != nullptr && !(has_tool && format::is_lookup(i));
    tare_profiling_slots[i] = profiling_wrapped ? wrappers[i] : profiling_below_table[i];
  }
}

void fill_sampled(const SampledWrapper* sampled) noexcept {
  for (; sampled->function != Function::none; ++sampled) {
    const auto i = static_cast<unsigned>(sampled->function);
    if (missing[i]) continue;
    tare_slots[i] = tare_profiling_slots[i] = sampled->wrapper;
  }
}

constinit std::atomic<bool> attached{false};
constinit bool is_chained = false;

// Prints a problem once in a process, not at every call.
void complain_once(const char* text) noexcept {
  static constinit bool said = false;
  if (!said) complain(text);
  said = true;
}

void attach(const void* caller, const void* asked) noexcept {
  recorder::choose_clock();
  const std::uint64_t start = recorder::now();
  const Library library = find_library(caller, asked);
  if (library.handle == nullptr) {
    complain_once("a call of MPI, but no MPI library is loaded: link the program with one");
    return;
  }
  const Tables* tables = recording() ? tables_for(library.abi) : nullptr;
  fill_next(library);
  if (tables != nullptr && !tables->bind(lookup_variable, library.handle)) tables = nullptr;
  if (tables == nullptr && recording() && tables_for(Abi::mpich) != nullptr) {
    char text[512];
    std::snprintf(text, sizeof text, "%s has a binary interface that tare does not know: not measured", library.path);
    complain(text);
  }
  void* const* wrappers = tables == nullptr ? nullptr : lookups_timed() ? tables->timed : tables->counted;
  is_chained = chained(library);
  fill_slots(wrappers, is_chained);
  if (tables != nullptr && sampling_asked()) fill_sampled(tables->sampled);
  if (tables != nullptr) fill_nested(tables->nested);
  null_weak_references([](unsigned function) { return missing[function]; });
  if (tables != nullptr) tables->attached(recorder::now() - start);
  attached.store(true, std::memory_order_release);
  settle_asked();
}

}  // namespace

bool has_tool_below() noexcept { return is_chained; }

bool is_attached() noexcept { return attached.load(std::memory_order_acquire); }

void attach_once(const void* caller, const void* asked) noexcept {
  const std::uintptr_t inside = tare_inside;
  // This thread's calls while it attaches (by a constructor that the loader runs) are not the program's.
  tare_inside = not_to_be_left;
  if (!is_attached()) attach(caller, asked);
  tare_inside = inside;
}

bool is_dispatched_to(unsigned number, bool profiling, const void* address) noexcept {
  return !missing[number] && (profiling ? profiling_below_table : below_table)[number] == address;
}

bool recording() noexcept {
  const char* run_dir = getenv("TARE_RUN_DIR");
  return run_dir != nullptr && run_dir[0] == '/';
}

bool lookups_timed() noexcept {
  const char* text = getenv("TARE_LOOKUPS");
  return text != nullptr && std::strcmp(text, "time") == 0;
}

bool sampling_asked() noexcept {
  const char* text = getenv("TARE_SAMPLE");
  if (text == nullptr) return false;
  format::SampleSpec spec;
  const char* wrong = format::parse_sample_spec(text, spec);
  const char* trace = getenv("TARE_TRACE");
  if (wrong == nullptr && spec.method == format::SampleMethod::write && (trace == nullptr || *trace != '1'))
    wrong = "write needs a trace (--trace)";
  if (wrong == nullptr) return true;
  char line[512];
  std::snprintf(line, sizeof line, "TARE_SAMPLE=%.200s: %s; messages are not sampled", text, wrong);
  complain_once(line);
  return false;
}

bool has(Function function) noexcept { return !missing[static_cast<unsigned>(function)]; }

}  // namespace tare::mpi

void* tare_resolve(unsigned number, const void* caller) noexcept {
  using namespace tare::mpi;
  const tare::recorder::ErrnoGuard guard;
  attach_once(caller, nullptr);
  if (is_attached() && !missing[number]) return tare_slots[number];
  if (!is_attached()) return reinterpret_cast<void*>(&missing_function);
  char text[256];
  std::snprintf(text, sizeof text, "the program calls %s, which the loaded MPI library does not have",
                tare::format::function_name(number));
  complain_once(text);
  return reinterpret_cast<void*>(&missing_function);
}

void* tare_nested(unsigned entry, std::uintptr_t return_address, std::uintptr_t stack, std::uintptr_t base) noexcept {
  const unsigned number = entry / 2;
  const bool profiling = entry % 2 != 0;
  if (tare::mpi::is_inside({return_address, stack, base})) {
    tare::mpi::begins_inside(static_cast<tare::mpi::Function>(number));
    return profiling ? tare_profiling_next[number] : tare_next[number];
  }
  return profiling ? tare_profiling_slots[number] : tare_slots[number];
}
