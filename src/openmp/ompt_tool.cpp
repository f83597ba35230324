// OpenMP through OMPT: the runtimes of LLVM and Intel call this library at events.
//
// A region's word (parallel_data) and an explicit task's (task_data) are those of its Region; that of an implicit task
// says whether it is open. In both runtimes, a worker learns that a region has ended when the next one begins. So the
// barrier that ends a region is no construct here: the implicit task of a thread ends where it comes to this barrier.
#include "openmp/ompt.h"

#include <dlfcn.h>

#include <cstdlib>

#include "openmp/constructs.h"
#include "openmp/process.h"
#include "recorder/warning.h"

namespace tare::openmp {
namespace {

constexpr std::uint64_t open_task = 1;                   // of an implicit task; it is no Region's word
constexpr std::uint64_t begun = std::uint64_t{1} << 63;  // of an explicit task

void parallel_begin(ompt_data_t*, const ompt_frame_t*, ompt_data_t* parallel_data, unsigned requested_parallelism, int,
                    const void* codeptr_ra) {
  Event event = Event::of_begin(TARE_CALLER);
  if (!event) return;
  const Region region = event.new_region(event.site_of_region());
  parallel_data->value = region.word();
  event.begin(Function::omp_parallel, region.site, region, {requested_parallelism});
  if (Construct* construct = event.innermost(Function::omp_parallel))
    construct->arguments[1] = reinterpret_cast<std::uintptr_t>(codeptr_ra);
}

void parallel_end(ompt_data_t* parallel_data, ompt_data_t*, int, const void*) {
  if (!Region::of(parallel_data->value).is_known()) return;
  if (Event event = Event::of_end(TARE_CALLER)) event.end({Function::omp_parallel});
}

void end_implicit_task(const stack::Frame& caller, ompt_data_t* task_data) {
  if (task_data->value != open_task) return;
  task_data->value = 0;
  if (Event event = Event::of_end(caller)) event.end({Function::omp_implicit_task});
}

void implicit_task(ompt_scope_endpoint_t endpoint, ompt_data_t* parallel_data, ompt_data_t* task_data,
                   unsigned actual_parallelism, unsigned index, int flags) {
  if ((flags & ompt_task_implicit) == 0) return;
  if (endpoint == ompt_scope_end) return end_implicit_task(TARE_CALLER, task_data);
  const Region region = Region::of(parallel_data->value);
  if (!region.is_known()) return;
  Event event = Event::of_begin(TARE_CALLER);
  if (!event) return;
  task_data->value = open_task;
  event.begin_part(region, index, actual_parallelism);
}

Function function_of(ompt_work_t kind) {
  switch (kind) {
    case ompt_work_loop:
    case ompt_work_loop_static:
    case ompt_work_loop_dynamic:
    case ompt_work_loop_guided:
    case ompt_work_loop_other:
      return Function::omp_for;
    case ompt_work_sections:
      return Function::omp_sections;
    case ompt_work_single_executor:
      return Function::omp_single;
    case ompt_work_workshare:
      return Function::omp_workshare;
    case ompt_work_distribute:
      return Function::omp_distribute;
    case ompt_work_taskloop:
      return Function::omp_taskloop;
    case ompt_work_scope:
      return Function::omp_scope;
    case ompt_work_single_other:
      break;
  }
  return Function::none;
}

bool is_counted(Function function) { return function != Function::omp_single && function != Function::omp_scope; }

void work(ompt_work_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t*, ompt_data_t*, std::uint64_t count,
          const void* codeptr_ra) {
  const Function function = function_of(kind);
  if (function == Function::none) return;
  if (endpoint == ompt_scope_end) {
    if (Event event = Event::of_end(TARE_CALLER)) event.end({function});
  } else if (endpoint == ompt_scope_begin) {
    Event event = Event::of_begin(TARE_CALLER);
    if (!event) return;
    if (is_counted(function))
      event.begin(function, event.site(codeptr_ra), event.region(), {count});
    else
      event.begin(function, event.site(codeptr_ra), event.region());
  }
}

Function function_of(ompt_sync_region_t kind) {
  switch (kind) {
    case ompt_sync_region_barrier:
    case ompt_sync_region_barrier_explicit:
      return Function::omp_barrier;
    case ompt_sync_region_barrier_implicit:
    case ompt_sync_region_barrier_implementation:
    case ompt_sync_region_barrier_implicit_workshare:
      return Function::omp_implicit_barrier;
    case ompt_sync_region_taskwait:
      return Function::omp_taskwait;
    case ompt_sync_region_taskgroup:
      return Function::omp_taskgroup;
    case ompt_sync_region_reduction:
    case ompt_sync_region_barrier_implicit_parallel:
    case ompt_sync_region_barrier_teams:
      break;
  }
  return Function::none;
}

// Whether it is the barrier that ends a region. LLVM's runtime says so from version 15 on; before, the barrier is made
// nowhere in a worker, and where the region is in the thread that has encountered it.
bool ends_region(ompt_sync_region_t kind, const void* codeptr_ra, Event& event) {
  if (kind == ompt_sync_region_barrier_implicit_parallel) return true;
  if (kind != ompt_sync_region_barrier_implicit) return false;
  const Construct* region = event.innermost(Function::omp_parallel);
  return codeptr_ra == nullptr ||
         (region != nullptr && region->arguments[1] == reinterpret_cast<std::uintptr_t>(codeptr_ra));
}

void sync_region_wait(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint, ompt_data_t* parallel_data,
                      ompt_data_t* task_data, const void* codeptr_ra) {
  const Function function = function_of(kind);
  if (endpoint == ompt_scope_end) {
    if (parallel_data == nullptr || function == Function::none) return;  // the barrier has ended a region
    if (Event event = Event::of_end(TARE_CALLER)) event.end({function});
  } else if (endpoint == ompt_scope_begin) {
    Event event = Event::of_begin(TARE_CALLER);
    if (!event) return;
    if (ends_region(kind, codeptr_ra, event)) {
      if (task_data == nullptr || task_data->value != open_task) return;
      task_data->value = 0;
      event.end({Function::omp_implicit_task});
    } else if (function != Function::none) {
      event.begin(function, event.site(codeptr_ra), event.region());
    }
  }
}

Function function_of(ompt_mutex_t kind) {
  switch (kind) {
    case ompt_mutex_lock:
    case ompt_mutex_nest_lock:
      return Function::omp_lock;
    case ompt_mutex_critical:
      return Function::omp_critical;
    case ompt_mutex_atomic:
      return Function::omp_atomic;
    case ompt_mutex_ordered:
      return Function::omp_ordered;
    case ompt_mutex_test_lock:  // waits for nobody
    case ompt_mutex_test_nest_lock:
      break;
  }
  return Function::none;
}

void mutex_acquire(ompt_mutex_t kind, unsigned, unsigned, ompt_wait_id_t wait_id, const void* codeptr_ra) {
  const Function function = function_of(kind);
  if (function == Function::none) return;
  if (Event event = Event::of_begin(TARE_CALLER))
    event.begin(function, event.site(codeptr_ra), event.region(), {wait_id});
}

void mutex_acquired(ompt_mutex_t kind, ompt_wait_id_t, const void*) {
  const Function function = function_of(kind);
  if (function == Function::none) return;
  if (Event event = Event::of_end(TARE_CALLER)) event.end({function});
}

// In place of mutex_acquired, if the thread has the lock already.
void nest_lock(ompt_scope_endpoint_t endpoint, ompt_wait_id_t, const void*) {
  if (endpoint != ompt_scope_begin) return;
  if (Event event = Event::of_end(TARE_CALLER)) event.end({Function::omp_lock});
}

void task_create(ompt_data_t*, const ompt_frame_t*, ompt_data_t* new_task_data, int flags, int,
                 const void* codeptr_ra) {
  if ((flags & ompt_task_explicit) == 0) return;
  if (Event event = Event::of_begin(TARE_CALLER))
    new_task_data->value = event.new_task(event.site_of_task(codeptr_ra)).word();
}

bool is_task(const ompt_data_t* task_data) {
  return task_data != nullptr && Region::of(task_data->value & ~begun).is_known();
}

// Tasks that run while a task waits end before it goes on: both runtimes call them.
void task_schedule(ompt_data_t* prior_task_data, ompt_task_status_t status, ompt_data_t* next_task_data) {
  const bool is_over = status == ompt_task_complete || status == ompt_task_cancel || status == ompt_task_detach;
  if (is_over && is_task(prior_task_data) && (prior_task_data->value & begun) != 0)
    if (Event event = Event::of_end(TARE_CALLER)) event.end({Function::omp_task, Function::omp_undeferred_task});
  if (!is_task(next_task_data) || (next_task_data->value & begun) != 0) return;
  Event event = Event::of_begin(TARE_CALLER);
  if (!event) return;
  const Region task = Region::of(next_task_data->value);
  next_task_data->value |= begun;
  event.begin(event.is_waiting() ? Function::omp_task : Function::omp_undeferred_task, task.site, task);
}

int initialize(ompt_function_lookup_t lookup, int, ompt_data_t*) {
  const auto set = reinterpret_cast<ompt_set_callback_t>(lookup("ompt_set_callback"));
  if (set == nullptr) return 0;
  const auto call = [&](ompt_callbacks_t event, auto* callback) {
    set(event, reinterpret_cast<ompt_callback_t>(callback));
  };
  call(ompt_callback_parallel_begin, parallel_begin);
  call(ompt_callback_parallel_end, parallel_end);
  call(ompt_callback_implicit_task, implicit_task);
  call(ompt_callback_work, work);
  call(ompt_callback_sync_region_wait, sync_region_wait);
  call(ompt_callback_mutex_acquire, mutex_acquire);
  call(ompt_callback_mutex_acquired, mutex_acquired);
  call(ompt_callback_nest_lock, nest_lock);
  call(ompt_callback_task_create, task_create);
  call(ompt_callback_task_schedule, task_schedule);
  return 1;
}

void finalize(ompt_data_t*) {}

constinit ompt_start_tool_result_t tool{initialize, finalize, {}};

// A tool that the program would have without tare, behind this library in the search order.
ompt_start_tool_result_t* next_tool(unsigned omp_version, const char* runtime_version) {
  using Start = ompt_start_tool_result_t*(unsigned, const char*);
  auto* start = reinterpret_cast<Start*>(dlsym(RTLD_NEXT, "ompt_start_tool"));
  return start == nullptr ? nullptr : start(omp_version, runtime_version);
}

bool has_tool_libraries() {
  const char* libraries = secure_getenv("OMP_TOOL_LIBRARIES");
  return libraries != nullptr && libraries[0] != '\0';
}

}  // namespace
}  // namespace tare::openmp

// A runtime has one tool, and it asks here first. The user's own comes before tare.
extern "C" [[gnu::visibility("default")]] ompt_start_tool_result_t* ompt_start_tool(unsigned omp_version,
                                                                                    const char* runtime_version) {
  using namespace tare::openmp;
  ompt_start_tool_result_t* other = next_tool(omp_version, runtime_version);
  choose();
  if (!is_on) return other;
  if (other == nullptr && !has_tool_libraries()) return &tool;
  tare::recorder::warn("another tool is told of OpenMP (ompt_start_tool, OMP_TOOL_LIBRARIES): it is not recorded");
  return other;
}
