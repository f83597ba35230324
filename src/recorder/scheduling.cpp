#include "recorder/scheduling.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "recorder/location.h"
#include "recorder/segment.h"
#include "recorder/system.h"

namespace tare::recorder {
namespace {

using format::OffProcessor;
using format::SchedulingSpan;
using format::SchedulingSums;

constexpr std::uint64_t first_shortest_ns = 100'000;
// A system call is saved where the thread was on its processor all the time; the counts are then read now and then.
constexpr std::uint64_t readings_for_counts = 64;
// Readings take at most a hundredth of the time.
constexpr std::uint64_t times_of_cost = 100;

std::uint64_t more(std::uint64_t one, std::uint64_t other) noexcept { return one > other ? one - other : 0; }

void add(OffProcessor& to, const OffProcessor& of) noexcept {
  to.ns += of.ns;
  to.descheduled_ns += of.descheduled_ns;
  to.unknown_ns += of.unknown_ns;
}

std::uint64_t off_ns(const SchedulingSpan& span) noexcept { return span.outside.ns + span.in_calls.ns; }

// Few processors change while a program runs, so they are read at the first readings, and less and less often later.
void read_allowed(SchedulingSums& sums) noexcept {
  if ((sums.readings & (sums.readings - 1)) != 0) return;
  unsigned long mask[sizeof sums.allowed / sizeof(unsigned long)] = {};
  if (syscall(SYS_sched_getaffinity, 0, sizeof mask, mask) > 0) std::memcpy(sums.allowed, mask, sizeof mask);
}

// Adds what the kernel has counted of the thread since this was called last. Returns how often it had to wait.
std::uint64_t read_counts(SchedulingSums& sums, SchedulingReading& last) noexcept {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  const auto add_since = [](std::uint64_t& sum, std::uint64_t& before, long now) {
    const std::uint64_t since = static_cast<std::uint64_t>(now) - before;
    sum += since;
    before = static_cast<std::uint64_t>(now);
    return since;
  };
  add_since(sums.preemptions, last.preemptions, usage.ru_nivcsw);
  add_since(sums.page_faults, last.page_faults, usage.ru_minflt);
  add_since(sums.major_page_faults, last.major_page_faults, usage.ru_majflt);
  return add_since(sums.switches, last.switches, usage.ru_nvcsw);
}

// Of the time off a processor since the last reading, what the thread waited for one.
OffProcessor divide(SchedulingReading& last, std::uint64_t off, std::uint64_t switches) noexcept {
  if (off < first_shortest_ns || switches == 0) {
    last.delay_ns += off;
    return {off, off, 0};
  }
  const std::uint64_t delay = read_delay();
  if (delay == UINT64_MAX) return {off, 0, off};
  const std::uint64_t waited = std::min(more(delay, last.delay_ns), off);
  last.delay_ns = delay;
  return {off, waited, 0};
}

// Whether the thread may be there to wait for work: neither the first of the process, nor has it called MPI.
bool is_helper(const format::LocationHeader& shared) noexcept {
  return shared.summary.number != 0 && shared.current.function.load(std::memory_order_relaxed) == 0;
}

// Where the time of the process between MPI_Init and MPI_Finalize began; UINT64_MAX if it is not in it.
std::uint64_t net_begin() noexcept {
  const format::SegmentHeader* header = segment();
  const bool is_net = header != nullptr && header->process.init_leave != 0 && header->process.finalize_enter == 0;
  return is_net ? header->process.init_leave : UINT64_MAX;
}

OffProcessor part_of(const OffProcessor& all, std::uint64_t ns) noexcept {
  if (all.ns <= ns) return all;
  const double part = static_cast<double>(ns) / static_cast<double>(all.ns);
  return {ns, static_cast<std::uint64_t>(static_cast<double>(all.descheduled_ns) * part),
          static_cast<std::uint64_t>(static_cast<double>(all.unknown_ns) * part)};
}

// Adds spans to their neighbours where both are short.
void unite_short(SchedulingSums& sums, SchedulingSpan* spans) noexcept {
  std::uint32_t kept = 0;
  for (std::uint32_t i = 1; i < sums.spans; ++i) {
    SchedulingSpan& last = spans[kept];
    if (off_ns(last) < sums.shortest_ns && off_ns(spans[i]) < sums.shortest_ns) {
      last.end = spans[i].end;
      add(last.outside, spans[i].outside);
      add(last.in_calls, spans[i].in_calls);
    } else {
      spans[++kept] = spans[i];
    }
  }
  sums.spans = kept + 1;
}

}  // namespace

void add_span(SchedulingSums& sums, SchedulingSpan* spans, const SchedulingSpan& span) noexcept {
  if (sums.shortest_ns == 0) sums.shortest_ns = first_shortest_ns;
  SchedulingSpan* last = sums.spans == 0 ? nullptr : &spans[sums.spans - 1];
  const bool is_short = off_ns(span) < sums.shortest_ns;
  if (is_short && last != nullptr && off_ns(*last) < sums.shortest_ns) {
    last->end = span.end;
    add(last->outside, span.outside);
    add(last->in_calls, span.in_calls);
    return;
  }
  if (sums.spans == format::max_scheduling_spans)
    while (sums.spans > format::max_scheduling_spans / 4 * 3) {
      sums.shortest_ns *= 2;
      unite_short(sums, spans);
    }
  spans[sums.spans++] = span;
}

void read_scheduling(Location& location, Piece piece, std::uint64_t begin, std::uint64_t end) noexcept {
  const ErrnoGuard guard;
  const std::uint64_t started = now();
  format::LocationHeader& shared = location.shared();
  SchedulingSums& sums = shared.scheduling;
  SchedulingReading& last = location.scheduling;
  const std::uint64_t wall_ns = read_ns(CLOCK_MONOTONIC), processor_ns = read_ns(CLOCK_THREAD_CPUTIME_ID);
  read_allowed(sums);
  ++sums.readings;
  if (last.wall_ns == 0) {
    SchedulingSums none{};  // what the thread did before does not count
    read_counts(none, last);
    const std::uint64_t delay = read_delay();
    last.delay_ns = delay == UINT64_MAX ? 0 : delay;
    if (last.is_of_begin && is_helper(shared) && location.mode != Mode::paused) sums.observed_ns += processor_ns;
  } else {
    const std::uint64_t passed_ns = wall_ns - last.wall_ns, off_ns = more(passed_ns, processor_ns - last.processor_ns);
    const bool is_looked_at = off_ns >= first_shortest_ns || sums.readings % readings_for_counts == 0;
    const OffProcessor off = divide(last, off_ns, is_looked_at ? read_counts(sums, last) : 0);
    const auto ns_since = [&](std::uint64_t ticks) {
      const auto part = static_cast<double>(end - ticks) / static_cast<double>(end - last.ticks);
      return static_cast<std::uint64_t>(part * static_cast<double>(passed_ns));
    };
    const std::uint64_t net = std::max(last.ticks, net_begin());
    const std::uint64_t observed = is_helper(shared) ? last.ticks : net;
    if (location.mode != Mode::paused && end > observed) {
      sums.observed_ns += ns_since(observed);
      add(sums.all, part_of(off, ns_since(observed)));
    }
    if (end > last.ticks && passed_ns != 0) {
      const double share = static_cast<double>(more(passed_ns, off_ns)) / static_cast<double>(passed_ns);
      last.processor_ticks += static_cast<std::uint64_t>(share * static_cast<double>(end - last.ticks));
    }
    begin = std::max(begin, net);
    // Calls that are only counted tell nothing of when they were made.
    if (last.counted_calls == location.counted_calls && location.mode != Mode::paused && end > begin) {
      const bool is_outside = piece == Piece::outside;
      const OffProcessor own = part_of(off, ns_since(begin));
      if (is_outside) add(sums.outside, own);
      if (own.ns >= first_shortest_ns)
        add_span(sums, shared.scheduling_spans,
                 {begin, end, is_outside ? own : OffProcessor{}, is_outside ? OffProcessor{} : own});
    }
  }
  const std::uint64_t ended = now(), interval = about_ticks(SchedulingReading::interval_ns);
  location.weighing.leave_out(ended - started);
  const bool is_interrupted = ended - started > about_ticks(Weighing::longest_ns);
  const std::uint64_t cost = is_interrupted ? last.cost : ended - started;
  sums.cost_ticks += cost;
  last.due = ended + std::max(interval, times_of_cost * cost);
  last.ticks = end;
  last.wall_ns = wall_ns;
  last.processor_ns = processor_ns;
  last.counted_calls = location.counted_calls;
  last.cost = cost;
}

void read_last_scheduling(Location& location) noexcept {
  if (is_helper(location.shared())) read_scheduling(location, Piece::outside, location.shared().current.leave, now());
}

}  // namespace tare::recorder
