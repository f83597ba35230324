#include "stacks/sampler.h"

#include <ucontext.h>

#include <algorithm>
#include <atomic>

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
#include "recorder/warning.h"
#include "stack/inside.h"
#include "stack/modules.h"
#include "stack/python_frame.h"
#include "stack/thread.h"
#include "stack/whole_stack.h"
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

// What a sample needs below the frame of the handler. Less may be left on the stack of a signal handler.
constexpr std::uintptr_t stack_of_sample = 8192;

std::uint64_t interval_ns() noexcept {
  return 1'000'000'000 / std::clamp<std::uint64_t>(recorder::count_of("TARE_STACK_RATE", default_rate), 1, max_rate);
}

bool has_room(const ucontext_t& at, const stack::Stack& own) noexcept {
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  const auto low = reinterpret_cast<std::uintptr_t>(at.uc_stack.ss_sp);
  if ((at.uc_stack.ss_flags & SS_DISABLE) == 0 && here - low < at.uc_stack.ss_size) return here - low > stack_of_sample;
  return !own.holds(here) || here - own.low > stack_of_sample;
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
  if (!pace.note_cost(ticks >> recorder::tick_shift(), part_of_budget * recorder::spells.budget_share())) return;
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

// Apart, so that the handler needs little of the stack before it is known that there is enough.
[[gnu::noinline]] void sample(recorder::Location& location, const ucontext_t& at, format::StackSamples& table,
                              bool in_program, std::uintptr_t inside, std::uint64_t time) noexcept {
  std::uint64_t ns = ns_since_last();
  if (const std::uint64_t most = pace.interval_ns() + max_delay_ns; ns > most && processor::is_after_system_call(at)) {
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

// The handler of the signals that timers send.
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
  if (!has_room(at, static_cast<const stack::Thread&>(*location).stack)) {  // the time is not that of the next sample
    std::atomic_ref(table->missed_ns).fetch_add(ns_since_last(), std::memory_order_relaxed);
    return;
  }
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

}  // namespace

void begin_thread(recorder::Location&) noexcept {
  format::StackSamples* table = recorder::stack_samples();
  if (table == nullptr) return;
  pace.begin(interval_ns());
  lengthen(std::atomic_ref(table->interval_ns), interval_ns());
  stack::look_for_python();
  take_signal(take_sample);
  if (begin_timer(pace.interval_ns())) return;
  if (std::atomic_ref(table->unsampled_threads).fetch_add(1) == 0)
    recorder::warn("the system has no timer for a thread: its stack is not sampled (ulimit -i)");
}

void end_thread() noexcept {
  if (format::StackSamples* table = recorder::stack_samples(); table != nullptr && has_timer())
    std::atomic_ref(table->missed_ns).fetch_add(ns_since_last(), std::memory_order_relaxed);
  end_timer();
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
