#include "reader/waits/scheduled_times.h"

#include <algorithm>

#include "reader/time_arithmetic.h"

namespace tare::reader {
namespace {

// The threads that had each location, one after the other.
std::multimap<std::uint32_t, std::uint32_t> threads_of(const Process& process) {
  std::multimap<std::uint32_t, std::uint32_t> threads;
  const auto add = [&](std::uint32_t block, std::uint32_t thread) {
    const auto [first, last] = threads.equal_range(block);
    if (std::none_of(first, last, [&](const auto& known) { return known.second == thread; }))
      threads.emplace(block, thread);
  };
  for (const ChunkRef& chunk : process.events)
    if (!format::is_of_tared(chunk.header.block)) add(chunk.header.block, chunk.header.location);
  for (const format::ThreadCall& call : process.calls) add(call.block, call.thread);
  return threads;
}

}  // namespace

ScheduledTimes::ScheduledTimes(const Run& run) {
  for (std::uint32_t index = 0; index < run.processes().size(); ++index) {
    const Process& process = run.processes()[index];
    const std::vector<Scheduling> all = read_scheduling(process.scheduling);
    is_known_.push_back(!all.empty());
    const auto threads = threads_of(process);
    for (const Scheduling& of : all) {
      const auto [first, last] = threads.equal_range(of.sums.block);
      for (auto at = first; at != last; ++at) {
        std::vector<Span>& to = spans_[{index, at->second}];
        for (const format::SchedulingSpan& span : of.spans) {
          const std::int64_t begin_ns = process.time_of(span.begin >> process.shift());
          const std::int64_t end_ns = process.time_of(span.end >> process.shift());
          to.push_back({process.shown(at->second, begin_ns), process.shown(at->second, end_ns), off_times(span.outside),
                        off_times(span.in_calls)});
        }
      }
    }
  }
  for (auto& [key, spans] : spans_)
    std::stable_sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.end_ns < b.end_ns; });
}

// A span of several intervals is taken to be off a processor in all of them alike.
OffTimes ScheduledTimes::sum_of(std::uint32_t process, std::uint32_t thread, std::int64_t begin_ns, std::int64_t end_ns,
                                OffTimes Span::*part) const {
  OffTimes off;
  const auto found = spans_.find({process, thread});
  if (found == spans_.end()) return off;
  const std::vector<Span>& spans = found->second;
  auto at = std::partition_point(spans.begin(), spans.end(), [&](const Span& span) { return span.end_ns <= begin_ns; });
  for (; at != spans.end() && at->begin_ns < end_ns; ++at) {
    const auto length = static_cast<double>(std::max<std::int64_t>(difference(at->end_ns, at->begin_ns), 1));
    const auto common =
        static_cast<double>(difference(std::min(end_ns, at->end_ns), std::max(begin_ns, at->begin_ns))) / length;
    off.descheduled_ns = sum(off.descheduled_ns, rounded_ns(common * static_cast<double>((*at.*part).descheduled_ns)));
    off.blocked_ns = sum(off.blocked_ns, rounded_ns(common * static_cast<double>((*at.*part).blocked_ns)));
  }
  const std::int64_t all_ns = std::max<std::int64_t>(difference(end_ns, begin_ns), 0);
  off.descheduled_ns = std::clamp<std::int64_t>(off.descheduled_ns, 0, all_ns);
  off.blocked_ns = std::clamp<std::int64_t>(off.blocked_ns, 0, all_ns - off.descheduled_ns);
  return off;
}

OffTimes ScheduledTimes::outside(std::uint32_t process, std::uint32_t thread, std::int64_t begin_ns,
                                 std::int64_t end_ns) const {
  return sum_of(process, thread, begin_ns, end_ns, &Span::outside);
}

OffTimes ScheduledTimes::in_call(std::uint32_t process, std::uint32_t thread, std::int64_t begin_ns,
                                 std::int64_t end_ns) const {
  return sum_of(process, thread, begin_ns, end_ns, &Span::in_calls);
}

}  // namespace tare::reader
