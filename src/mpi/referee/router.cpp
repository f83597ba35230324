// libtare-referee.so: weighs other tools of MPI's profiling interface within one run (docs/referee.md).
//
// It is preloaded above the tools. For spells of a few milliseconds, it leads the program's calls to one of the tools
// or past all of them. The functions below are reached by a stub that jumps, so that a tool sees the program's own
// return address.
//
// A call of PMPI_X reaches the MPI library, or the tool of the spell if it has a PMPI_X of its own. So each tool works
// as if it were alone. Calls that make or free an object pass through all tools, so that each knows every object: the
// first tool calls PMPI_X, which leads to the second.
#include "mpi/referee/routes.h"

#include <pthread.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "mpi/abi/mpich.h"
#include "mpi/abi/openmpi.h"
#include "mpi/abi/standard.h"
#include "mpi/calls/left_call.h"
#include "mpi/calls/thread.h"
#include "mpi/interposition/dispatch.h"
#include "mpi/interposition/real_dlsym.h"
#include "mpi/referee/tools.h"
#include "mpi/referee/treatment.h"
#include "mpi/referee/turns.h"
#include "processor/arguments.h"
#include "recorder/clock.h"
#include "recorder/system.h"
#include "recorder/warning.h"
#include "stack/inside.h"

extern "C" {
// Where a call of Fortran goes. `number`: of the function; the others as for Router::destination.
[[gnu::visibility("hidden")]] void* tare_resolve_fortran(unsigned number, const void* caller,
                                                         std::uintptr_t stack) noexcept;
[[gnu::visibility("hidden")]] extern void* tare_fortran_slots[];
}

// Nothing is measured here. Only attaching calls these.
bool tare::stack::is_inside(const Frame&) noexcept { return true; }
void tare::mpi::begins_inside(format::Function, bool) noexcept {}

namespace tare::mpi {
namespace referee {
namespace {

using format::mpi_function_count;

constinit Tools tools;
constinit Turns turns;
constinit Library mpi_library{};
constinit std::atomic<const void*> owner{nullptr};  // the thread that calls MPI, by the address of `last_call`

// The call of MPI_X that this thread made last of those that lead to a tool: a call of PMPI_X from the same place of
// the stack, or deeper, is the tool's.
struct LastCall {
  unsigned number = 0;
  unsigned next = 0;  // the tool to which the tool's call leads
  std::uintptr_t stack = 0;
  const void* caller = nullptr;
  bool includes(unsigned function, std::uintptr_t deeper) const noexcept {
    return number == function && deeper <= stack;
  }
};
constinit thread_local LastCall last_call;
// The call of Fortran's function that this thread is in, if it has not returned. MPI's function of the same number that
// is called there is counted, by whomever it is called, but no spell begins in between.
constinit thread_local LastCall fortran_call;

// What the tools take in MPI_Init and MPI_Finalize.
struct Hook {
  void* below;     // the function that is to be called
  unsigned route;  // of the tool whose function it is; 0: of the MPI library
};
constinit thread_local Hook next_hook{};
constinit thread_local std::uint64_t inner_ns = 0;  // what was called within the function that is timed, so far
constinit std::atomic<SpellFileHeader*> hooks{nullptr};

bool is_hook(unsigned number) noexcept {
  const auto function = static_cast<Function>(number);
  return function == Function::MPI_Init || function == Function::MPI_Init_thread || function == Function::MPI_Finalize;
}

// Calls of these return to here.
int hooked(std::uintptr_t a, std::uintptr_t b, std::uintptr_t c, std::uintptr_t d) noexcept {
  const Hook hook = next_hook;
  const std::uint64_t outer_ns = std::exchange(inner_ns, 0), begin = recorder::read_ns(CLOCK_MONOTONIC);
  using Signature = int(std::uintptr_t, std::uintptr_t, std::uintptr_t, std::uintptr_t);
  const int result = reinterpret_cast<Signature*>(hook.below)(a, b, c, d);
  const std::uint64_t took = recorder::read_ns(CLOCK_MONOTONIC) - begin;
  SpellFileHeader* const header = hooks.load(std::memory_order_relaxed);
  if (header != nullptr && hook.route != 0) {
    std::uint64_t& own = header->hook_ns[hook.route - 1];
    // A tool that calls MPI's function past this library, as tare does, has not been seen to wait for it.
    own = inner_ns == 0 || own == unknown_hook ? unknown_hook : own + took - inner_ns;
  }
  inner_ns = outer_ns + took;
  return result;
}

void* timed(unsigned number, unsigned route, void* below) noexcept {
  if (!is_hook(number)) return below;
  next_hook = {below, route};
  return reinterpret_cast<void*>(&hooked);
}

template <class A>
bool bind(void* (*lookup)(const char*, void*) noexcept, void* library) noexcept {
  if (!A::bind(lookup, library)) return false;
  world.begin(bits(A::comm_world()), sizeof(typename A::Comm));
  turns.pending.begin(sizeof(typename A::Request), bits(A::request_null()));
  return true;
}

bool bind(const Library& library, void* (*lookup)(const char*, void*) noexcept) noexcept {
  switch (library.abi) {
    case format::Abi::mpich:
      return bind<abi::Mpich>(lookup, library.handle);
    case format::Abi::openmpi:
      return bind<abi::OpenMpi>(lookup, library.handle);
    case format::Abi::standard:
      return bind<abi::Standard>(lookup, library.handle);
    case format::Abi::none:
      break;
  }
  return false;
}

void fill(const Library& library, void* (*lookup)(const char*, void*) noexcept) noexcept {
  static constinit std::atomic_flag is_filled;
  if (is_filled.test_and_set()) return;
  mpi_library = library;
  const char* directory = secure_getenv("TARE_REFEREE");
  const char* paths = secure_getenv("TARE_REFEREE_TOOLS");
  if (paths != nullptr) tools.find(paths);
  std::uint16_t functions[max_tools] = {};
  char name[128];
  for (unsigned i = 1; i <= mpi_function_count; ++i) {
    routes.asking.plain[i] = tare_slots[i];
    routes.asking.profiling[i] = tare_profiling_slots[i];
    if (missing[i]) continue;
    routes.to[0].plain[i] = routes.to[0].profiling[i] = tare_library[i];
    unsigned with_it = 0;
    for (unsigned tool = 0; tool < tools.count(); ++tool) {
      std::snprintf(name, sizeof name, "P%s", format::function_name(i));
      void* const its = tools.function(tool, name + 1, library);
      void* const its_profiling = tools.function(tool, name, library);
      routes.to[tool + 1].plain[i] = its == nullptr ? tare_library[i] : its;
      routes.to[tool + 1].profiling[i] = its_profiling == nullptr ? tare_library[i] : its_profiling;
      with_it += its != nullptr ? 1U : 0U;
      functions[tool] += its != nullptr ? 1U : 0U;
    }
    const Kind kind = treatments[i].kind;
    routes.asks[i] = kind == Kind::ends || (kind == Kind::passes ? with_it > 0 : kind != Kind::routed);
  }
  const bool is_known = bind(library, lookup);
  if (directory != nullptr && directory[0] == '/' && turns.begin(directory, directory, tools)) {
    hooks = turns.header();
    for (unsigned tool = 0; tool < tools.count(); ++tool)
      turns.header()->functions[tool] = tools.is_loaded(tool) ? functions[tool] : not_loaded;
    if (!is_known) turns.stop(unknown_abi);
  } else {
    recorder::warn("the referee cannot write its results; no tool is weighed");
  }
  pthread_atfork(nullptr, nullptr, [] {
    turns.forget();
    hooks = nullptr;
  });
  routes.use(0);
}

// The next function that a call passes on its way through all tools.
void* through_all(unsigned number, bool is_profiling, std::uintptr_t stack) noexcept {
  const bool of_tool = is_profiling && last_call.includes(number, stack);
  for (unsigned tool = of_tool ? last_call.next : 0; tool < tools.count(); ++tool) {
    const Functions& its = routes.to[tool + 1];
    void* const found = is_profiling && !of_tool ? its.profiling[number] : its.plain[number];
    if (found == tare_library[number]) continue;
    last_call = {number, tool + 1, stack, nullptr};
    return timed(number, tool + 1, found);
  }
  last_call = {};
  return timed(number, 0, tare_library[number]);
}

// Whether this is the one thread that calls MPI. The spells belong to all threads.
bool is_owner() noexcept {
  const void* const own = &last_call;
  const void* known = owner.load(std::memory_order_relaxed);
  return known == own || (known == nullptr && owner.compare_exchange_strong(known, own));
}

void count(Treatment treatment, const void* caller, std::uintptr_t stack) noexcept {
  const auto argument = [&](unsigned number) { return processor::argument(stack, number); };
  const std::uintptr_t own = argument(treatment.argument);
  const auto length = [&] { return static_cast<int>(argument(0)); };
  switch (treatment.kind) {
    case Kind::anchors:
      turns.tick();
      if (world.has_as_many_ranks(own)) turns.anchor(caller);
      return;
    case Kind::starts:
      turns.pending.start();
      return;
    case Kind::begins_one:
    case Kind::begins_all:
      turns.pending.begin_persistent(own, treatment.kind == Kind::begins_one ? 1 : length());
      return;
    case Kind::waits_one:
    case Kind::waits_all:
      turns.tick();
      turns.pending.wait_all(own, treatment.kind == Kind::waits_one ? 1 : length());
      return;
    case Kind::frees:
      turns.pending.free(own);
      return;
    case Kind::ticks:
    case Kind::waits_any:
    case Kind::waits_some:
      turns.tick();
      return;
    default:
      return;
  }
}

// Calls whose result tells what they have completed return to here.
template <Function function, bool is_profiling>
int completing(std::uintptr_t a, std::uintptr_t b, std::uintptr_t c, std::uintptr_t d, std::uintptr_t e) noexcept {
  constexpr auto number = static_cast<unsigned>(function);
  constexpr Kind kind = treatments[number].kind;
  const Functions& route = routes.to[turns.route];
  auto* below = (is_profiling ? route.profiling : route.plain)[number];
  const std::uintptr_t words[] = {a, b, c, d};
  const long before = turns.pending.before(kind, words);
  using Signature = int(std::uintptr_t, std::uintptr_t, std::uintptr_t, std::uintptr_t, std::uintptr_t);
  const int result = reinterpret_cast<Signature*>(below)(a, b, c, d, e);
  if (result == 0) turns.pending.after(kind, words, before);
  return result;
}

template <Function... functions>
void* completing_function(unsigned number, bool is_profiling) noexcept {
  void* found = nullptr;
  ((number == static_cast<unsigned>(functions)
        ? static_cast<void>(found = is_profiling ? reinterpret_cast<void*>(&completing<functions, true>)
                                                 : reinterpret_cast<void*>(&completing<functions, false>))
        : void()),
   ...);
  return found;
}

bool tells_what_it_completed(Kind kind) noexcept { return kind >= Kind::waits_any && kind <= Kind::tests_some; }

void* destination(unsigned entry, const void* caller, std::uintptr_t stack) noexcept {
  const unsigned number = entry / 2;
  const bool is_profiling = entry % 2 != 0;
  const Treatment treatment = treatments[number];
  if (treatment.kind == Kind::ends) turns.stop(0);
  if (treatment.kind == Kind::ends || treatment.kind == Kind::passes) return through_all(number, is_profiling, stack);
  const auto where = [&] {
    return (is_profiling ? routes.to[turns.route].profiling : routes.to[turns.route].plain)[number];
  };
  if (!turns.is_recording()) return where();
  const bool of_fortran = fortran_call.includes(number, stack);
  const bool of_tool = is_profiling && (last_call.includes(number, stack) || tools.contain(caller));
  if (of_tool && !of_fortran) return where();
  if (!is_owner()) {
    turns.stop(several_threads);
    return where();
  }
  if (of_fortran)
    caller = std::exchange(fortran_call, {}).caller;
  else
    turns.arrive(caller);
  const std::uint8_t before = routes.seen[number];
  routes.seen[number] = before | (is_profiling ? Seen::profiling : Seen::plain);
  count(treatment, caller, stack);
  if (routes.seen[number] != before) routes.set_profiling(number, turns.route);
  if (!is_profiling) last_call = {turns.route == 0 ? 0 : number, 0, stack, nullptr};
  if (!tells_what_it_completed(treatment.kind)) return where();
  return completing_function<Function::MPI_Test, Function::MPI_Testall, Function::MPI_Testany, Function::MPI_Testsome,
                             Function::MPI_Waitany, Function::MPI_Waitsome>(number, is_profiling);
}

bool has_fortran(unsigned number) noexcept {
  for (unsigned tool = 1; tool <= tools.count(); ++tool)
    if (routes.to[tool].fortran[number] != routes.to[0].fortran[number]) return true;
  return false;
}

int no_function() noexcept { return 0; }

// Calls the loader.
void find_fortran(unsigned number) noexcept {
  char name[128] = {};
  for (std::size_t i = 0; format::function_name(number)[i] != '\0'; ++i) {
    const char letter = format::function_name(number)[i];
    name[i] = static_cast<char>(letter >= 'A' && letter <= 'Z' ? letter - 'A' + 'a' : letter);
  }
  name[std::strlen(name)] = '_';
  void* below = tools.below(name);
  if (below == nullptr) below = reinterpret_cast<void*>(&no_function);
  for (unsigned tool = 0; tool < tools.count(); ++tool) {
    void* const its = tools.function(tool, name, mpi_library);
    routes.to[tool + 1].fortran[number] = its == nullptr ? below : its;
  }
  routes.to[0].fortran[number] = below;
}

void* fortran_through_all(unsigned number, std::uintptr_t stack) noexcept {
  for (unsigned tool = 0; tool < tools.count(); ++tool) {
    void* const its = routes.to[tool + 1].fortran[number];
    if (its == routes.to[0].fortran[number]) continue;
    SpellFileHeader* const header = hooks.load(std::memory_order_relaxed);
    if (header != nullptr && is_hook(number)) header->hook_ns[tool] = unknown_hook;
    last_call = {number, tool + 1, stack, nullptr};
    return its;
  }
  return routes.to[0].fortran[number];
}

// What a tool has for Fortran calls PMPI_X, as the MPI library's own functions do. That call is counted; but if a spell
// is to begin, it begins before the tool is called.
void* fortran_destination(unsigned number, const void* caller, std::uintptr_t stack) noexcept {
  if (routes.to[0].fortran[number] == nullptr) find_fortran(number);
  if (!has_fortran(number)) return tare_fortran_slots[number] = routes.to[0].fortran[number];
  const Kind kind = treatments[number].kind;
  if (kind == Kind::ends) turns.stop(0);
  if (kind == Kind::ends || kind == Kind::passes) return fortran_through_all(number, stack);
  if (turns.is_recording() && kind != Kind::routed && is_owner()) {
    turns.arrive(caller);
    fortran_call = {number, 0, stack, caller};
    if ((routes.seen[number] & Seen::profiling) == 0) {
      routes.seen[number] |= Seen::profiling;
      routes.set_profiling(number, turns.route);
    }
  }
  return routes.to[turns.route].fortran[number];
}

constexpr Router referee_router{fill, destination};

}  // namespace

}  // namespace referee

const Tables* tables_for(format::Abi) noexcept { return nullptr; }
const Router* const router = &referee::referee_router;

}  // namespace tare::mpi

void* tare_resolve_fortran(unsigned number, const void* caller, std::uintptr_t stack) noexcept {
  if (!tare::mpi::is_attached()) {
    const tare::recorder::ErrnoGuard guard;
    tare::mpi::attach_once(caller, nullptr);
  }
  return tare::mpi::referee::fortran_destination(number, caller, stack);
}
