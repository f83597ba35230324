// When the threads of a run were off their processors (format/scheduling.h), in the times of its events.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "reader/run/run.h"

namespace tare::reader {

class ScheduledTimes {
 public:
  explicit ScheduledTimes(const Run& run);

  // Of the time of a thread outside MPI between two calls, and of a call. `process`: index in Run::processes(). The
  // times are zero if the interval was too short to be looked at, or if nothing is known of the thread.
  OffTimes outside(std::uint32_t process, std::uint32_t thread, std::int64_t begin_ns, std::int64_t end_ns) const;
  OffTimes in_call(std::uint32_t process, std::uint32_t thread, std::int64_t begin_ns, std::int64_t end_ns) const;

  // Whether it is known when the threads of a process were off their processors, if that was for long enough.
  bool is_known(std::uint32_t process) const { return process < is_known_.size() && is_known_[process]; }
  // Shorter intervals are not looked at.
  static constexpr std::int64_t interval_ns = 1'000'000;

  // A time of a thread in which it was on no processor.
  struct Span {
    std::int64_t begin_ns = 0, end_ns = 0;
    OffTimes outside, in_calls;
  };
  // By process and thread; in the order of time.
  using Spans = std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Span>>;
  const Spans& spans() const { return spans_; }

 private:
  OffTimes sum_of(std::uint32_t process, std::uint32_t thread, std::int64_t begin_ns, std::int64_t end_ns,
                  OffTimes Span::*part) const;

  Spans spans_;
  std::vector<bool> is_known_;
};

}  // namespace tare::reader
