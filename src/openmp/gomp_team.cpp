#include "openmp/gomp_team.h"

#include <algorithm>
#include <array>
#include <bit>
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

// A function finds the tail by the number of bytes before it, so there is one for each place where it may lie: every
// 16 bytes at first, then four for each doubling.
constexpr std::size_t step_bytes = sizeof(Tail), small_steps = 64, small_bytes = small_steps * step_bytes;
constexpr std::size_t doublings = 20, steps_a_doubling = 4;
constexpr std::size_t most_bytes = small_bytes << doublings;

constexpr std::size_t place_at(std::size_t number) {
  if (number <= small_steps) return number * step_bytes;
  const std::size_t above = number - small_steps - 1, unit = small_bytes / steps_a_doubling << above / steps_a_doubling;
  return (steps_a_doubling + above % steps_a_doubling + 1) * unit;
}

// The number of the first place behind so many bytes.
constexpr std::size_t number_of(std::size_t bytes) {
  if (bytes <= small_bytes) return (bytes + step_bytes - 1) / step_bytes;
  const auto doubling = static_cast<std::size_t>(std::bit_width((bytes - 1) / small_bytes / 2));
  const std::size_t unit = small_bytes / steps_a_doubling << doubling;
  return small_steps + steps_a_doubling * doubling + (bytes + unit - 1) / unit - steps_a_doubling;
}

constexpr std::size_t places = small_steps + steps_a_doubling * doublings + 1;
static_assert([] {
  for (std::size_t number = 1; number < places; ++number)
    if (number_of(place_at(number)) != number || number_of(place_at(number - 1) + 1) != number) return false;
  return place_at(places - 1) == most_bytes;
}());

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

template <std::size_t... numbers>
constexpr std::array<Outlined*, sizeof...(numbers)> all_of(std::index_sequence<numbers...>) {
  return {&run_task<place_at(numbers)>...};
}
constexpr auto runners = all_of(std::make_index_sequence<places>());

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
  if (Event event = Event::of_begin(TARE_CALLER))
    event.begin_part(team.region, static_cast<unsigned>(team.thread_number()), static_cast<unsigned>(team.threads()));
  team.function(team.data);
  if (Event event = Event::of_end(TARE_CALLER)) event.end({Function::omp_implicit_task});
}

MadeTask::MadeTask(const stack::Frame& caller, Outlined* function, CopyData* copy, long bytes, long alignment) noexcept
    : function_(function), copy_(copy), bytes_(bytes), alignment_(alignment), outer_(made_task) {
  if (bytes < 0 || static_cast<std::size_t>(bytes) > most_bytes) return;
  Event event = Event::of_begin(caller);
  if (!event) return;
  task_ = event.new_task(event.site_of_task(reinterpret_cast<const void*>(caller.return_address)));
  if (!task_.is_known()) return;
  const std::size_t number = number_of(static_cast<std::size_t>(bytes));
  place_ = place_at(number);
  run_ = runners[number];
  made_task = this;
}

MadeTask::~MadeTask() { made_task = outer_; }

long MadeTask::bytes() const noexcept { return static_cast<long>(place_ + sizeof(Tail)); }
long MadeTask::alignment() const noexcept { return std::max(alignment_, static_cast<long>(alignof(Tail))); }

void MadeTask::copy_with_tail(void* to, void* from) {
  const MadeTask& task = *made_task;
  const Tail tail{task.function_, task.task_};
  std::memcpy(static_cast<char*>(to) + task.place_, &tail, sizeof tail);
  if (task.copy_ != nullptr)
    task.copy_(to, from);
  else
    std::memcpy(to, from, static_cast<std::size_t>(task.bytes_));
}

}  // namespace tare::openmp
