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
// Readings take at most this part of the time. One that was interrupted does not count.
constexpr std::uint64_t most_of_time = 500, longest_intervals = 10;

std::uint64_t more(std::uint64_t one, std::uint64_t other) noexcept { return one > other ? one - other : 0; }

void add(OffProcessor& to, const OffProcessor& of) noexcept {
  to.ns += of.ns;
  to.descheduled_ns += of.descheduled_ns;
  to.unknown_ns += of.unknown_ns;
}

std::uint64_t off_ns(const SchedulingSpan& span) noexcept { return span.outside.ns + span.in_calls.ns; }

// How long the thread has waited for a processor so far, as the kernel counts it (proc(5), "schedstat"); UINT64_MAX: it
// does not tell.
std::uint64_t read_delay() noexcept {
  char text[96];
  const long bytes = read_file("/proc/thread-self/schedstat", text, sizeof text - 1);
  if (bytes <= 0) return UINT64_MAX;
  text[bytes] = 0;
  const char* at = std::strchr(text, ' ');
  if (at == nullptr) return UINT64_MAX;
  std::uint64_t delay = 0;
  for (++at; *at >= '0' && *at <= '9'; ++at) delay = 10 * delay + static_cast<std::uint64_t>(*at - '0');
  return delay;
}

// Few processors change while a program runs, so they are read at the first readings, and less and less often later.
void read_allowed(SchedulingSums& sums) noexcept {
  if ((sums.readings & (sums.readings - 1)) != 0) return;
  unsigned long mask[sizeof sums.allowed / sizeof(unsigned long)] = {};
  if (syscall(SYS_sched_getaffinity, 0, sizeof mask, mask) > 0) std::memcpy(sums.allowed, mask, sizeof mask);
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
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  const auto switches = static_cast<std::uint64_t>(usage.ru_nvcsw),
             preemptions = static_cast<std::uint64_t>(usage.ru_nivcsw),
             page_faults = static_cast<std::uint64_t>(usage.ru_minflt),
             major_page_faults = static_cast<std::uint64_t>(usage.ru_majflt);
  read_allowed(sums);
  ++sums.readings;
  if (last.wall_ns == 0) {
    const std::uint64_t delay = read_delay();
    last.delay_ns = delay == UINT64_MAX ? 0 : delay;
  } else {
    sums.switches += switches - last.switches;
    sums.preemptions += preemptions - last.preemptions;
    sums.page_faults += page_faults - last.page_faults;
    sums.major_page_faults += major_page_faults - last.major_page_faults;
    const std::uint64_t passed_ns = wall_ns - last.wall_ns;
    const OffProcessor off = divide(last, more(passed_ns, processor_ns - last.processor_ns), switches - last.switches);
    begin = std::max({begin, last.ticks, net_begin()});
    // Calls that are only counted tell nothing of when they were made.
    if (last.counted_calls == location.counted_calls && location.mode != Mode::paused && end > begin) {
      const auto part = static_cast<double>(end - begin) / static_cast<double>(end - last.ticks);
      const auto piece_ns = static_cast<std::uint64_t>(part * static_cast<double>(passed_ns));
      const bool is_outside = piece == Piece::outside;
      const OffProcessor own = part_of(off, piece_ns);
      (is_outside ? sums.outside_ns : sums.in_calls_ns) += piece_ns;
      add(is_outside ? sums.outside : sums.in_calls, own);
      if (own.ns >= first_shortest_ns)
        add_span(sums, shared.scheduling_spans,
                 {begin, end, is_outside ? own : OffProcessor{}, is_outside ? OffProcessor{} : own});
    }
  }
  const std::uint64_t ended = now(), cost = ended - started;
  sums.cost_ticks += cost;
  location.weighing.leave_out(cost);
  const std::uint64_t interval = SchedulingReading::interval_ns << tick_shift();
  const std::uint64_t usual = last.cost == 0 ? cost : std::min(cost, last.cost);
  location.reading_due = ended + std::clamp(most_of_time * usual, interval, longest_intervals * interval);
  last = {end,
          wall_ns,
          processor_ns,
          switches,
          preemptions,
          page_faults,
          major_page_faults,
          last.delay_ns,
          location.counted_calls,
          cost};
}

}  // namespace tare::recorder
