// OpenMP through the entry points of GNU's runtime (libgomp), which this library exports ahead of it. A call that is
// not measured costs a jump through a pointer.
//
// The compiler calls them. The barrier that ends a region is within that of the region, so a thread's part of a region
// ends where its function does. What the compiler does itself is not seen: loops with a static schedule, `master`, and
// the end of `single`. Those of compilers before GCC 4.9 (GOMP_parallel_start) are left alone.
#include <cstdint>
#include <initializer_list>
#include <type_traits>

#include "openmp/gomp_next.h"
#include "openmp/gomp_team.h"
#include "openmp/process.h"

namespace tare::openmp {
namespace {

constinit Next get_thread_num("omp_get_thread_num");
constinit Next get_num_threads("omp_get_num_threads");

// Whether calls of the function are recorded here.
bool is_seen(const NextFunction& next) noexcept { return is_on && !next.has_ompt; }

const void* address_of(const stack::Frame& caller) noexcept {
  return reinterpret_cast<const void*>(caller.return_address);
}

// Calls call(function, data) for a region whose threads run `function`.
template <class Call>
[[gnu::always_inline]] inline auto run_region(const stack::Frame& caller, const NextFunction& next, Outlined* function,
                                              void* data, void* first_word, Call call) {
  using Query = int (*)();
  if (!is_seen(next)) [[likely]]
    return call(function, data);
  Team team{first_word,
            function,
            data,
            reinterpret_cast<Query>(get_thread_num.of(address_of(caller)).address),
            reinterpret_cast<Query>(get_num_threads.of(address_of(caller)).address),
            {}};
  team.begin(caller);
  const bool is_recorded = team.region.is_known();
  if constexpr (std::is_void_v<decltype(call(function, data))>) {
    is_recorded ? call(&Team::run_part, &team) : call(function, data);
    if (is_recorded) Team::end(caller);
  } else {
    const auto result = is_recorded ? call(&Team::run_part, &team) : call(function, data);
    if (is_recorded) Team::end(caller);
    return result;
  }
}

// Records call(), which waits.
template <class Call>
[[gnu::always_inline]] inline auto wait(const stack::Frame& caller, const NextFunction& next, Function function,
                                        std::initializer_list<std::uint64_t> arguments, Call call) {
  if (!is_seen(next)) [[likely]]
    return call();
  if (Event event = Event::of_begin(caller))
    event.begin(function, event.site(address_of(caller)), event.region(), arguments);
  if constexpr (std::is_void_v<decltype(call())>) {
    call();
    if (Event event = Event::of_end(caller)) event.end({function});
  } else {
    const auto result = call();
    if (Event event = Event::of_end(caller)) event.end({function});
    return result;
  }
}

void begin_work(const stack::Frame& caller, const NextFunction& next, Function function, std::uint64_t count) {
  if (!is_seen(next)) return;
  if (Event event = Event::of_begin(caller))
    event.begin(function, event.site(address_of(caller)), event.region(), {count});
}
void end_work(const stack::Frame& caller, const NextFunction& next, Function function) {
  if (!is_seen(next)) return;
  if (Event event = Event::of_end(caller)) event.end({function});
}

std::uint64_t iterations(long start, long end, long step) noexcept {
  if (step == 0 || (step > 0 ? start >= end : start <= end)) return 0;
  const auto range = step > 0 ? static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(start)
                              : static_cast<std::uint64_t>(start) - static_cast<std::uint64_t>(end);
  const std::uint64_t width = step > 0 ? static_cast<std::uint64_t>(step) : -static_cast<std::uint64_t>(step);
  return (range - 1) / width + 1;
}
std::uint64_t iterations(bool up, std::uint64_t start, std::uint64_t end, std::uint64_t step) noexcept {
  const std::uint64_t width = up ? step : -step;
  if (width == 0 || (up ? start >= end : start <= end)) return 0;
  return ((up ? end - start : start - end) - 1) / width + 1;
}

using Ull = unsigned long long;

// A flag of GOMP_taskloop.
constexpr unsigned without_group = 1U << 11;

}  // namespace
}  // namespace tare::openmp

using namespace tare::openmp;

#define TARE_ENTRY [[gnu::visibility("default")]]

// What every entry point begins with: what has called it, and what is below it.
#define TARE_BELOW(name, result, ...)                           \
  static constinit Next next_##name(#name);                     \
  const tare::stack::Frame caller = TARE_CALLER;                \
  const NextFunction next = next_##name.of(address_of(caller)); \
  auto* const below = reinterpret_cast<result (*)(__VA_ARGS__)>(next.address)

extern "C" {

// Regions.

TARE_ENTRY void GOMP_parallel(Outlined* function, void* data, unsigned threads, unsigned flags) {
  TARE_BELOW(GOMP_parallel, void, Outlined*, void*, unsigned, unsigned);
  run_region(caller, next, function, data, nullptr,
             [&](Outlined* run, void* with) { below(run, with, threads, flags); });
}
// The runtime reads the first word of the data.
TARE_ENTRY unsigned GOMP_parallel_reductions(Outlined* function, void* data, unsigned threads, unsigned flags) {
  TARE_BELOW(GOMP_parallel_reductions, unsigned, Outlined*, void*, unsigned, unsigned);
  return run_region(caller, next, function, data, *static_cast<void**>(data),
                    [&](Outlined* run, void* with) { return below(run, with, threads, flags); });
}
TARE_ENTRY void GOMP_parallel_sections(Outlined* function, void* data, unsigned threads, unsigned count,
                                       unsigned flags) {
  TARE_BELOW(GOMP_parallel_sections, void, Outlined*, void*, unsigned, unsigned, unsigned);
  run_region(caller, next, function, data, nullptr,
             [&](Outlined* run, void* with) { below(run, with, threads, count, flags); });
}

#define TARE_CHUNKED_LOOP_REGION(name)                                                                                \
  TARE_ENTRY void name(Outlined* function, void* data, unsigned threads, long start, long end, long step, long chunk, \
                       unsigned flags) {                                                                              \
    TARE_BELOW(name, void, Outlined*, void*, unsigned, long, long, long, long, unsigned);                             \
    run_region(caller, next, function, data, nullptr,                                                                 \
               [&](Outlined* run, void* with) { below(run, with, threads, start, end, step, chunk, flags); });        \
  }
TARE_CHUNKED_LOOP_REGION(GOMP_parallel_loop_static)
TARE_CHUNKED_LOOP_REGION(GOMP_parallel_loop_dynamic)
TARE_CHUNKED_LOOP_REGION(GOMP_parallel_loop_guided)
TARE_CHUNKED_LOOP_REGION(GOMP_parallel_loop_nonmonotonic_dynamic)
TARE_CHUNKED_LOOP_REGION(GOMP_parallel_loop_nonmonotonic_guided)

#define TARE_LOOP_REGION(name)                                                                            \
  TARE_ENTRY void name(Outlined* function, void* data, unsigned threads, long start, long end, long step, \
                       unsigned flags) {                                                                  \
    TARE_BELOW(name, void, Outlined*, void*, unsigned, long, long, long, unsigned);                       \
    run_region(caller, next, function, data, nullptr,                                                     \
               [&](Outlined* run, void* with) { below(run, with, threads, start, end, step, flags); });   \
  }
TARE_LOOP_REGION(GOMP_parallel_loop_runtime)
TARE_LOOP_REGION(GOMP_parallel_loop_nonmonotonic_runtime)
TARE_LOOP_REGION(GOMP_parallel_loop_maybe_nonmonotonic_runtime)

// Loops in a region; `unsigned long long` ones have names of their own.

#define TARE_CHUNKED_LOOP(name)                                                                                \
  TARE_ENTRY bool GOMP_loop_##name(long start, long end, long step, long chunk, long* from, long* to) {        \
    TARE_BELOW(GOMP_loop_##name, bool, long, long, long, long, long*, long*);                                  \
    begin_work(caller, next, Function::omp_for, iterations(start, end, step));                                 \
    return below(start, end, step, chunk, from, to);                                                           \
  }                                                                                                            \
  TARE_ENTRY bool GOMP_loop_ull_##name(bool up, Ull start, Ull end, Ull step, Ull chunk, Ull* from, Ull* to) { \
    TARE_BELOW(GOMP_loop_ull_##name, bool, bool, Ull, Ull, Ull, Ull, Ull*, Ull*);                              \
    begin_work(caller, next, Function::omp_for, iterations(up, start, end, step));                             \
    return below(up, start, end, step, chunk, from, to);                                                       \
  }
TARE_CHUNKED_LOOP(static_start)
TARE_CHUNKED_LOOP(dynamic_start)
TARE_CHUNKED_LOOP(guided_start)
TARE_CHUNKED_LOOP(nonmonotonic_dynamic_start)
TARE_CHUNKED_LOOP(nonmonotonic_guided_start)
TARE_CHUNKED_LOOP(ordered_static_start)
TARE_CHUNKED_LOOP(ordered_dynamic_start)
TARE_CHUNKED_LOOP(ordered_guided_start)

#define TARE_LOOP(name)                                                                             \
  TARE_ENTRY bool GOMP_loop_##name(long start, long end, long step, long* from, long* to) {         \
    TARE_BELOW(GOMP_loop_##name, bool, long, long, long, long*, long*);                             \
    begin_work(caller, next, Function::omp_for, iterations(start, end, step));                      \
    return below(start, end, step, from, to);                                                       \
  }                                                                                                 \
  TARE_ENTRY bool GOMP_loop_ull_##name(bool up, Ull start, Ull end, Ull step, Ull* from, Ull* to) { \
    TARE_BELOW(GOMP_loop_ull_##name, bool, bool, Ull, Ull, Ull, Ull*, Ull*);                        \
    begin_work(caller, next, Function::omp_for, iterations(up, start, end, step));                  \
    return below(up, start, end, step, from, to);                                                   \
  }
TARE_LOOP(runtime_start)
TARE_LOOP(nonmonotonic_runtime_start)
TARE_LOOP(maybe_nonmonotonic_runtime_start)
TARE_LOOP(ordered_runtime_start)

#define TARE_ANY_LOOP(name)                                                                                          \
  TARE_ENTRY bool GOMP_loop_##name(long start, long end, long step, long schedule, long chunk, long* from, long* to, \
                                   std::uintptr_t* reductions, void** memory) {                                      \
    TARE_BELOW(GOMP_loop_##name, bool, long, long, long, long, long, long*, long*, std::uintptr_t*, void**);         \
    begin_work(caller, next, Function::omp_for, iterations(start, end, step));                                       \
    return below(start, end, step, schedule, chunk, from, to, reductions, memory);                                   \
  }                                                                                                                  \
  TARE_ENTRY bool GOMP_loop_ull_##name(bool up, Ull start, Ull end, Ull step, long schedule, Ull chunk, Ull* from,   \
                                       Ull* to, std::uintptr_t* reductions, void** memory) {                         \
    TARE_BELOW(GOMP_loop_ull_##name, bool, bool, Ull, Ull, Ull, long, Ull, Ull*, Ull*, std::uintptr_t*, void**);     \
    begin_work(caller, next, Function::omp_for, iterations(up, start, end, step));                                   \
    return below(up, start, end, step, schedule, chunk, from, to, reductions, memory);                               \
  }
TARE_ANY_LOOP(start)
TARE_ANY_LOOP(ordered_start)

// Sections.

TARE_ENTRY unsigned GOMP_sections_start(unsigned count) {
  TARE_BELOW(GOMP_sections_start, unsigned, unsigned);
  begin_work(caller, next, Function::omp_sections, count);
  return below(count);
}
TARE_ENTRY unsigned GOMP_sections2_start(unsigned count, std::uintptr_t* reductions, void** memory) {
  TARE_BELOW(GOMP_sections2_start, unsigned, unsigned, std::uintptr_t*, void**);
  begin_work(caller, next, Function::omp_sections, count);
  return below(count, reductions, memory);
}

// The ends of both, and the barriers in them.

#define TARE_END(name, result, function)                                                    \
  TARE_ENTRY result name() {                                                                \
    TARE_BELOW(name, result, );                                                             \
    end_work(caller, next, Function::function);                                             \
    return wait(caller, next, Function::omp_implicit_barrier, {}, [&] { return below(); }); \
  }
TARE_END(GOMP_loop_end, void, omp_for)
TARE_END(GOMP_loop_end_cancel, bool, omp_for)
TARE_END(GOMP_sections_end, void, omp_sections)
TARE_END(GOMP_sections_end_cancel, bool, omp_sections)

#define TARE_END_WITHOUT_BARRIER(name, function) \
  TARE_ENTRY void name() {                       \
    TARE_BELOW(name, void, );                    \
    end_work(caller, next, Function::function);  \
    below();                                     \
  }
TARE_END_WITHOUT_BARRIER(GOMP_loop_end_nowait, omp_for)
TARE_END_WITHOUT_BARRIER(GOMP_sections_end_nowait, omp_sections)

// Functions that wait.

#define TARE_WAIT(name, result, function)                                       \
  TARE_ENTRY result name() {                                                    \
    TARE_BELOW(name, result, );                                                 \
    return wait(caller, next, Function::function, {}, [&] { return below(); }); \
  }
TARE_WAIT(GOMP_barrier, void, omp_barrier)
TARE_WAIT(GOMP_barrier_cancel, bool, omp_barrier)
TARE_WAIT(GOMP_single_copy_start, void*, omp_implicit_barrier)
TARE_WAIT(GOMP_taskwait, void, omp_taskwait)
TARE_WAIT(GOMP_taskgroup_end, void, omp_taskgroup)

TARE_ENTRY void GOMP_taskwait_depend(void** dependences) {
  TARE_BELOW(GOMP_taskwait_depend, void, void**);
  wait(caller, next, Function::omp_taskwait, {}, [&] { below(dependences); });
}
TARE_ENTRY void GOMP_workshare_task_reduction_unregister(bool is_cancelled) {
  TARE_BELOW(GOMP_workshare_task_reduction_unregister, void, bool);
  wait(caller, next, Function::omp_implicit_barrier, {}, [&] { below(is_cancelled); });
}

#define TARE_MUTEX(name, function)                                 \
  TARE_ENTRY void name() {                                         \
    TARE_BELOW(name, void, );                                      \
    wait(caller, next, Function::function, {0}, [&] { below(); }); \
  }
TARE_MUTEX(GOMP_critical_start, omp_critical)
TARE_MUTEX(GOMP_atomic_start, omp_atomic)
TARE_MUTEX(GOMP_ordered_start, omp_ordered)

#define TARE_LOCK(name, function)                                                                           \
  TARE_ENTRY void name(void* lock) {                                                                        \
    TARE_BELOW(name, void, void*);                                                                          \
    wait(caller, next, Function::function, {reinterpret_cast<std::uintptr_t>(lock)}, [&] { below(lock); }); \
  }
TARE_LOCK(GOMP_critical_name_start, omp_critical)
TARE_LOCK(omp_set_lock, omp_lock)
TARE_LOCK(omp_set_nest_lock, omp_lock)
TARE_LOCK(omp_set_lock_, omp_lock)
TARE_LOCK(omp_set_nest_lock_, omp_lock)

// Tasks.

TARE_ENTRY void GOMP_task(Outlined* function, void* data, CopyData* copy, long bytes, long alignment,
                          bool may_be_deferred, unsigned flags, void** dependences, int priority, void* detach) {
  TARE_BELOW(GOMP_task, void, Outlined*, void*, CopyData*, long, long, bool, unsigned, void**, int, void*);
  if (is_seen(next)) {
    const MadeTask task(caller, function, copy, bytes, alignment);
    if (task.is_recorded())
      return below(task.function(), data, task.copy(), task.bytes(), task.alignment(), may_be_deferred, flags,
                   dependences, priority, detach);
  }
  below(function, data, copy, bytes, alignment, may_be_deferred, flags, dependences, priority, detach);
}

// A loop waits for its tasks at its end, unless it is told not to.
#define TARE_TASKLOOP(name, Index)                                                                                 \
  TARE_ENTRY void name(Outlined* function, void* data, CopyData* copy, long bytes, long alignment, unsigned flags, \
                       unsigned long tasks, int priority, Index start, Index end, Index step) {                    \
    TARE_BELOW(name, void, Outlined*, void*, CopyData*, long, long, unsigned, unsigned long, int, Index, Index,    \
               Index);                                                                                             \
    const auto make = [&] {                                                                                        \
      if (is_seen(next)) {                                                                                         \
        const MadeTask task(caller, function, copy, bytes, alignment);                                             \
        if (task.is_recorded())                                                                                    \
          return below(task.function(), data, task.copy(), task.bytes(), task.alignment(), flags, tasks, priority, \
                       start, end, step);                                                                          \
      }                                                                                                            \
      below(function, data, copy, bytes, alignment, flags, tasks, priority, start, end, step);                     \
    };                                                                                                             \
    if ((flags & without_group) != 0) return make();                                                               \
    wait(caller, next, Function::omp_taskgroup, {}, make);                                                         \
  }
TARE_TASKLOOP(GOMP_taskloop, long)
TARE_TASKLOOP(GOMP_taskloop_ull, Ull)
}
