#include "openmp/gomp_team.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

namespace tare::openmp {
namespace {

// The task that this thread makes, whose data the runtime copies meanwhile.
constinit thread_local const MadeTask* made_task [[gnu::tls_model("initial-exec")]] = nullptr;

// What lies behind the data of a task.
struct Tail {
  Outlined* function;
  Region task;
};

// A function finds the tail by the number of bytes before it, so there is one for each number.
constexpr std::size_t step_bytes = sizeof(Tail);
constexpr std::size_t most_steps = 64;

template <std::size_t bytes>
void run_task(void* data) {
  Tail tail;
  std::memcpy(&tail, static_cast<const char*>(data) + bytes, sizeof tail);
  if (tail.task.is_known())
    if (Event event = Event::of_begin(TARE_CALLER))
      event.begin(event.is_waiting() ? Function::omp_task : Function::omp_undeferred_task, tail.task.site, tail.task);
  tail.function(data);
  if (tail.task.is_known())
    if (Event event = Event::of_end(TARE_CALLER)) event.end({Function::omp_task, Function::omp_undeferred_task});
}

template <std::size_t... steps>
constexpr std::array<Outlined*, sizeof...(steps)> all_of(std::index_sequence<steps...>) {
  return {&run_task<steps * step_bytes>...};
}
constexpr auto runners = all_of(std::make_index_sequence<most_steps + 1>());

std::size_t steps_of(long bytes) noexcept { return (static_cast<std::size_t>(bytes) + step_bytes - 1) / step_bytes; }

}  // namespace

void Team::begin(const stack::Frame& caller) noexcept {
  Event event = Event::of_begin(caller);
  if (!event) return;
  region = event.new_region(event.site_of_region(function));
  event.begin(Function::omp_parallel, region.site, region, {0});
}

void Team::end(const stack::Frame& caller) noexcept {
  if (Event event = Event::of_end(caller)) event.end({Function::omp_parallel});
}

void Team::run_part(void* data) {
  const Team team = *static_cast<const Team*>(data);
  if (Event event = Event::of_begin(TARE_CALLER)) {
    const auto number = static_cast<unsigned>(team.thread_number()), threads = static_cast<unsigned>(team.threads());
    if (number == 0)
      if (Construct* construct = event.innermost(Function::omp_parallel)) construct->arguments[0] = threads;
    event.begin(Function::omp_implicit_task, team.region.site, team.region, {number, threads});
  }
  team.function(team.data);
  if (Event event = Event::of_end(TARE_CALLER)) event.end({Function::omp_implicit_task});
}

MadeTask::MadeTask(const stack::Frame& caller, Outlined* function, CopyData* copy, long bytes, long alignment) noexcept
    : function_(function), copy_(copy), bytes_(bytes), alignment_(alignment), outer_(made_task) {
  if (bytes < 0 || steps_of(bytes) > most_steps) return;
  Event event = Event::of_begin(caller);
  if (!event) return;
  task_ = event.new_task(event.site(reinterpret_cast<const void*>(caller.return_address)));
  if (!task_.is_known()) return;
  run_ = runners[steps_of(bytes)];
  made_task = this;
}

MadeTask::~MadeTask() { made_task = outer_; }

long MadeTask::bytes() const noexcept { return static_cast<long>(steps_of(bytes_) * step_bytes + sizeof(Tail)); }
long MadeTask::alignment() const noexcept { return std::max(alignment_, static_cast<long>(alignof(Tail))); }

void MadeTask::copy_with_tail(void* to, void* from) {
  const MadeTask& task = *made_task;
  const Tail tail{task.function_, task.task_};
  std::memcpy(static_cast<char*>(to) + steps_of(task.bytes_) * step_bytes, &tail, sizeof tail);
  if (task.copy_ != nullptr)
    task.copy_(to, from);
  else
    std::memcpy(to, from, static_cast<std::size_t>(task.bytes_));
}

}  // namespace tare::openmp
