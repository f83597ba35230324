#include "reader/waits/delays.h"

#include <algorithm>

#include "reader/time_arithmetic.h"

namespace tare::reader {

void Delays::add(std::int32_t site, bool in_call, std::int64_t ns, std::int64_t Spent::*to) {
  if (ns <= 0) return;
  const auto activity = static_cast<std::uint32_t>(2 * (site + 1) + (in_call ? 1 : 0));
  if (activity >= spent_.size()) return;
  Spent& spent = spent_[activity];
  if (spent.waiting_ns == 0 && spent.cause_ns == 0) touched_.push_back(activity);
  spent.*to = sum(spent.*to, ns);
}

std::int64_t Delays::add(const Of& of, std::int64_t Spent::*to) {
  const History& history = of.history;
  std::int64_t waits = 0;
  std::size_t i = history.find(of.from);
  for (; i < history.size() && history[i].number < of.to; ++i) {
    const Segment& segment = history[i];
    add(segment.site, false, segment.gap_ns, to);
    add(segment.site, true, difference(segment.call_ns, segment.wait_ns), to);
    waits = sum(waits, segment.wait_ns);
  }
  if (i < history.size() && history[i].number == of.to) add(history[i].site, false, history[i].gap_ns, to);
  return waits;
}

void Delays::charge(WaitState& wait, const Of& waiting, const Of& cause) {
  touched_.clear();
  add(waiting, &Spent::waiting_ns);
  const auto passed_on = static_cast<double>(add(cause, &Spent::cause_ns));
  double all = passed_on;
  for (const std::uint32_t activity : touched_) {
    const Spent& spent = spent_[activity];
    all += static_cast<double>(std::max<std::int64_t>(difference(spent.cause_ns, spent.waiting_ns), 0));
  }
  const double share = all > 0 ? static_cast<double>(wait.wait_ns) / all : 0;
  double delay = 0, longest = 0;
  for (const std::uint32_t activity : touched_) {
    Spent& spent = spent_[activity];
    const double cost = static_cast<double>(difference(spent.cause_ns, spent.waiting_ns)) * share;
    spent = {};
    if (cost <= 0) continue;
    delay += cost;
    const SiteActivity of{static_cast<std::int32_t>(activity / 2) - 1, activity % 2 != 0};
    if (cost > longest) {
      longest = cost;
      wait.delay = of;
    }
    const std::uint64_t place =
        std::uint64_t{static_cast<std::uint32_t>(wait.world)} << 32 | static_cast<std::uint32_t>(wait.cause_rank);
    Sum& summed = sums_[{place, std::uint64_t{activity} << 8 | static_cast<std::uint64_t>(wait.kind)}];
    summed.cost_ns += cost;
    ++summed.waits;
  }
  wait.delay_ns = static_cast<std::int64_t>(delay);
  wait.longest_delay_ns = static_cast<std::int64_t>(longest);
  wait.passed_on_ns = static_cast<std::int64_t>(passed_on * share);
}

std::vector<DelaySum> Delays::sums() const {
  std::vector<DelaySum> all;
  for (const auto& [key, summed] : sums_) {
    const std::uint64_t activity = key.activity >> 8;
    all.push_back({static_cast<std::int32_t>(key.place >> 32),
                   static_cast<std::int32_t>(key.place & 0xffffffffU),
                   {static_cast<std::int32_t>(activity / 2) - 1, activity % 2 != 0},
                   static_cast<WaitKind>(key.activity & 0xffU),
                   summed.cost_ns,
                   summed.waits});
  }
  std::sort(all.begin(), all.end(), [](const DelaySum& a, const DelaySum& b) { return a.cost_ns > b.cost_ns; });
  return all;
}

}  // namespace tare::reader
