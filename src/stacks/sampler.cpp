#include "stacks/sampler.h"

#include <ucontext.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "format/current_call.h"
#include "format/functions.h"
#include "processor/interrupted.h"
#include "recorder/clock.h"
#include "recorder/environment.h"
#include "recorder/errno_guard.h"
#include "recorder/inside.h"
#include "recorder/locations.h"
#include "recorder/segment.h"
#include "recorder/spells.h"
#include "recorder/system.h"
#include "recorder/warning.h"
#include "stack/inside.h"
#include "stack/modules.h"
#include "stack/python_frame.h"
#include "stack/thread.h"
#include "stack/whole_stack.h"
#include "stacks/call_on.h"
#include "stacks/pace.h"
#include "stacks/signals.h"
#include "stacks/table.h"
#include "stacks/timer.h"

namespace tare::stacks {
namespace {

constexpr std::uint64_t default_rate = 100;  // samples in a second of processor time
constexpr std::uint64_t max_rate = 10'000;
constexpr double part_of_budget = 0.5;  // that samples may take; calls have what they leave

constinit thread_local Pace pace [[gnu::tls_model("initial-exec")]] = {};

// A longer time before a signal that comes at the end of a system call is one in which the thread had blocked it. (The
// system sends it at a tick at which the thread runs, which is late on a busy machine.)
constexpr std::uint64_t max_delay_ns = 30'000'000;

// The stack on which samples of this thread are taken: the program's may have no room for it, as those of coroutines
// and of signal handlers. A sample needs 8 KiB.
constexpr std::size_t stack_bytes = std::size_t{64} << 10;
constinit thread_local char* own_stack [[gnu::tls_model("initial-exec")]] = nullptr;

bool make_own_stack() noexcept {
  if (own_stack == nullptr) own_stack = static_cast<char*>(recorder::map_memory(stack_bytes));
  return own_stack != nullptr;
}

void free_own_stack() noexcept {
  // A signal that a timer has sent may come later.
  if (char* const memory = std::exchange(own_stack, nullptr); memory != nullptr)
    recorder::unmap_memory(memory, stack_bytes);
}

std::uint64_t interval_ns() noexcept {
  return 1'000'000'000 / std::clamp<std::uint64_t>(recorder::count_of("TARE_STACK_RATE", default_rate), 1, max_rate);
}

// The instruction before may lie in a page that is not there.
bool is_after_system_call(const ucontext_t& at) noexcept {
  const std::uintptr_t last = processor::instruction_of(at) - 2;
  return recorder::is_readable(last & ~std::uintptr_t{7}) && processor::is_after_system_call(at);
}

// Adds the sample to the trace. A signal handler does not drain the event buffer, so a sample that finds no room there
// is in the profile alone.
void trace(recorder::EventBuffer& events, std::uint32_t site, std::uint64_t time, std::uint64_t ns) noexcept {
  struct Record {
    format::SourceCallRecord call;
    std::uint64_t processor_ns;
  };
  if (!events.has_room(sizeof(Record))) return;
  const Record record{{{format::source_call, sizeof(Record) / 8},
                       static_cast<std::uint32_t>(format::Function::stack_sample),
                       time,
                       time,
                       site,
                       0},
                      ns};
  events.append(record);
}

// The interval of the thread changes to what samples of this cost may have in a run with a budget.
void keep_budget(format::StackSamples& table, std::uint64_t ticks) noexcept {
  if (!pace.note_cost(recorder::about_ns(ticks), part_of_budget * recorder::spells.budget_share())) return;
  change_timer(pace.interval_ns());
  lengthen(std::atomic_ref(table.interval_ns), pace.interval_ns());
}

// The handler does not call the loader, which it may have interrupted.
class LoaderAside {
 public:
  LoaderAside() noexcept : before_(stack::loader_may_be_busy) { stack::loader_may_be_busy = true; }
  ~LoaderAside() { stack::loader_may_be_busy = before_; }
  LoaderAside(const LoaderAside&) = delete;
  LoaderAside& operator=(const LoaderAside&) = delete;

 private:
  const bool before_;
};

void sample(recorder::Location& location, const ucontext_t& at, format::StackSamples& table, bool in_program,
            std::uintptr_t inside, std::uint64_t time) noexcept {
  std::uint64_t ns = ns_since_last();
  if (const std::uint64_t most = pace.interval_ns() + max_delay_ns; ns > most && is_after_system_call(at)) {
    std::atomic_ref(table.missed_ns).fetch_add(ns - most, std::memory_order_relaxed);
    ns = most;
  }
  Place place{0, location.shared().summary.number, format::SampledIn::program};
  const auto& thread = static_cast<const stack::Thread&>(location);
  const stack::Interrupted interrupted{processor::instruction_of(at), processor::stack_of(at), processor::base_of(at),
                                       processor::link_of(at)};
  if (inside == recorder::not_to_be_left) {
    place.in = format::SampledIn::tare;
  } else if (inside != 0) {
    place.in = format::SampledIn::call;
    place.site = format::call_of(location.shared().current, location.shared().others).site;
  } else if (location.waits_in_construct && !in_program) {  // it spins, and the time is in the record of the wait
    place.in = format::SampledIn::call;
    place.site = location.shared().others.construct.site;
  } else {
    const stack::WholeStack found = stack::whole_stack(interrupted, thread.stack);
    place.site = found.site;
    if (found.is_cut) std::atomic_ref(table.cut).fetch_add(1, std::memory_order_relaxed);
    if (found.site == 0) std::atomic_ref(table.lost).fetch_add(1, std::memory_order_relaxed);
    trace(location.events, found.site, time, ns);
  }
  add_sample(table, place, ns);
}

void take_sample(void* context) noexcept {
  recorder::Location* location = recorder::this_location;
  format::StackSamples* table = recorder::stack_samples();
  if (location == nullptr || table == nullptr || location->counts_only) return;
  if (location->mode == recorder::Mode::paused) {
    ns_since_last();  // of which there are no samples
    return;
  }
  const recorder::ErrnoGuard guard;
  const std::uint64_t begin = recorder::now();
  const auto& at = *static_cast<const ucontext_t*>(context);
  const LoaderAside aside;
  // A call that was left by longjmp is not under way any more. In a call, the loader may be at work, so only a thread
  // that is in the program's own code is asked.
  const stack::Module* module = stack::known_module(processor::instruction_of(at));
  const bool in_program = module != nullptr && module->kind == stack::ModuleKind::program;
  if (tare_inside != 0 && in_program)
    stack::is_inside({processor::instruction_of(at) + 1, processor::stack_of(at), processor::base_of(at)});
  const std::uintptr_t inside = tare_inside;
  const recorder::OwnCode own;
  sample(*location, at, *table, in_program, inside, begin);
  const std::uint64_t ticks = recorder::now() - begin;
  std::atomic_ref(table->ticks).fetch_add(ticks, std::memory_order_relaxed);
  location->sample_ticks += ticks;
  keep_budget(*table, ticks);
}

// The handler of the signals that timers send. It needs little of the stack on which it is called.
void take_sample_apart(void* context) noexcept {
  if (own_stack != nullptr) tare_call_on(context, take_sample, own_stack + stack_bytes);
}

}  // namespace

void begin_thread(recorder::Location&) noexcept {
  format::StackSamples* table = recorder::stack_samples();
  if (table == nullptr) return;
  pace.begin(interval_ns());
  lengthen(std::atomic_ref(table->interval_ns), interval_ns());
  stack::look_for_python();
  take_signal(take_sample_apart);
  if (make_own_stack() && begin_timer(pace.interval_ns())) return;
  if (std::atomic_ref(table->unsampled_threads).fetch_add(1) == 0)
    recorder::warn("the system has no timer or memory for a thread: its stack is not sampled (ulimit -i, ulimit -v)");
}

void end_thread() noexcept {
  if (format::StackSamples* table = recorder::stack_samples(); table != nullptr && has_timer())
    std::atomic_ref(table->missed_ns).fetch_add(ns_since_last(), std::memory_order_relaxed);
  end_timer();
  free_own_stack();
}

void change_depth(const recorder::Location& location) noexcept {
  if (location.counts_only)
    pause_timer();
  else
    resume_timer();
}

void begin_child() noexcept {
  forget_timer();
  release_signal();
  release_table();
}

}  // namespace tare::stacks
