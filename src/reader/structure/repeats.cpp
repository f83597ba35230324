#include "reader/structure/repeats.h"

#include <algorithm>

namespace tare::reader {

void Repeats::add(const RankCall& call) {
  const std::int64_t lost_ns = difference(call.lost_ns, last_lost_ns_);
  const std::int64_t length_ns = calls_ == 0 ? 0 : difference(difference(call.start_ns, last_end_ns_), lost_ns);
  const Pause pause{length_ns, last_end_ns_, call.start_ns, call.before_ns, time_ns_, mpi_ns_, calls_};
  if (calls_ == 0) {
    first_ = pause;
  } else if (longest_.size() < kept || length_ns > longest_.back().length_ns) {
    const auto at =
        std::find_if(longest_.begin(), longest_.end(), [&](const Pause& each) { return each.length_ns < length_ns; });
    longest_.insert(at, pause);
    if (longest_.size() > kept) longest_.pop_back();
  }
  const std::int64_t in_call_ns = difference(call.end_ns, call.start_ns);
  ++calls_;
  mpi_ns_ = sum(mpi_ns_, in_call_ns);
  time_ns_ = sum(time_ns_, sum(in_call_ns, call.before_ns));
  last_end_ns_ = std::max(last_end_ns_, call.end_ns);
  last_lost_ns_ = call.lost_ns;
}

Stretch Repeats::between(std::uint32_t line, const Pause& begin, const Pause& end) const {
  Stretch of;
  of.from_ns = begin.to_ns;
  of.to_ns = end.from_ns;
  of.time_ns = difference(difference(end.time_ns, begin.time_ns), begin.before_ns);
  of.mpi_ns = difference(end.mpi_ns, begin.mpi_ns);
  of.calls = end.calls - begin.calls;
  of.line = line;
  return of;
}

void Repeats::stretches(std::uint32_t line, std::int64_t shortest_ns, std::vector<Stretch>& to) const {
  if (calls_ == 0) return;
  std::size_t breaks = 0;
  for (std::size_t k = 1; k <= std::min(longest_.size(), max_returns); ++k) {
    const std::int64_t length_ns = longest_[k - 1].length_ns;
    const std::int64_t next_ns = k < longest_.size() ? longest_[k].length_ns : 0;
    if (length_ns >= shortest_ns && length_ns / far_longer >= next_ns) breaks = k;
  }
  std::vector<Pause> bounds(longest_.begin(), longest_.begin() + static_cast<std::ptrdiff_t>(breaks));
  bounds.push_back(first_);
  std::sort(bounds.begin(), bounds.end(), [](const Pause& a, const Pause& b) { return a.calls < b.calls; });
  bounds.push_back({0, last_end_ns_, last_end_ns_, 0, time_ns_, mpi_ns_, calls_});
  for (std::size_t i = 0; i + 1 < bounds.size(); ++i) {
    const Pause& begin = bounds[i];
    Stretch calls = between(line, begin, bounds[i + 1]);
    const Stretch before{difference(begin.to_ns, begin.before_ns), begin.to_ns, begin.before_ns, 0, 0, line, true};
    if (begin.before_ns <= usual_pauses * calls.interval_ns()) {
      calls.from_ns = before.from_ns;
      calls.time_ns = sum(calls.time_ns, before.time_ns);
    } else {
      to.push_back(before);
    }
    to.push_back(calls);
  }
}

}  // namespace tare::reader
