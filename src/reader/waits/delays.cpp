#include "reader/waits/delays.h"

#include <algorithm>

#include "reader/time_arithmetic.h"

namespace tare::reader {
namespace {

// A wait has as many root causes at most, and none with a smaller share. What is left out is not explained.
constexpr std::size_t max_roots = 12;
constexpr double least_share = 0.005;

std::int64_t more_ns(std::int64_t one_ns, std::int64_t other_ns) {
  return std::max<std::int64_t>(difference(one_ns, other_ns), 0);
}

// From when on the calls of a thread are in its history.
std::int64_t known_since_ns(const History& history) {
  if (history.empty() || history[0].number == 0) return INT64_MIN;
  return difference(history[0].enter_ns, history[0].gap_ns);
}

// When a thread met the other one: at the end of its wait in the call in which they synchronised.
std::int64_t met_ns(const Delays::Of& of) {
  const std::size_t at = of.met ? of.history.find_containing(*of.met) : of.history.size();
  if (at >= of.history.size() || of.history[at].number > *of.met) return INT64_MIN;
  return sum(of.history[at].enter_ns, of.history[at].wait_ns);
}

// The part of an interval that is not before `since_ns`.
std::int64_t since(std::int64_t since_ns, std::int64_t begin_ns, std::int64_t end_ns) {
  return more_ns(end_ns, std::max(begin_ns, since_ns));
}

void add_root(WaitState& wait, std::int32_t rank, const SiteActivity& activity, double share) {
  if (share <= 0) return;
  for (RootCause& root : wait.roots)
    if (root.rank == rank && root.activity == activity) {
      root.share += share;
      return;
    }
  wait.roots.push_back({rank, activity, share});
}

void keep_largest(std::vector<RootCause>& roots) {
  std::sort(roots.begin(), roots.end(), [](const RootCause& a, const RootCause& b) { return a.share > b.share; });
  if (roots.size() > max_roots) roots.resize(max_roots);
  while (!roots.empty() && roots.back().share < least_share) roots.pop_back();
}

}  // namespace

std::uint32_t Delays::number_of(const SiteActivity& activity) {
  constexpr std::uint32_t states = activities_of_site / 2;
  return activities_of_site * static_cast<std::uint32_t>(activity.site + 1) + (activity.in_call ? states : 0) +
         static_cast<std::uint32_t>(activity.scheduled);
}

SiteActivity Delays::activity_of(std::uint32_t number) {
  constexpr std::uint32_t states = activities_of_site / 2;
  return {static_cast<std::int32_t>(number / activities_of_site) - 1, number % activities_of_site >= states,
          static_cast<Scheduled>(number % states)};
}

void Delays::add(const SiteActivity& activity, std::int64_t ns, std::int64_t Spent::*to) {
  if (ns <= 0) return;
  const std::uint32_t number = number_of(activity);
  if (number >= spent_.size()) return;
  Spent& spent = spent_[number];
  if (spent.waiting_ns == 0 && spent.cause_ns == 0) touched_.push_back(number);
  spent.*to = sum(spent.*to, ns);
}

Delays::Totals Delays::add(const Of& of, std::int64_t since_ns, std::int64_t Spent::*to) {
  const History& history = of.history;
  Totals totals;
  for (std::size_t i = history.find_at(since_ns); i < history.size() && history[i].number <= of.to; ++i) {
    const Segment& segment = history[i];
    std::int64_t outside_ns = since(since_ns, difference(segment.enter_ns, segment.gap_ns), segment.enter_ns);
    // What the waiting thread did longer than it is known of both is no delay of the cause, if that did it later.
    if (to == &Spent::waiting_ns && outside_ns > 0) outside_ns = segment.gap_ns;
    // Of a part of the time, a part of what was off the processor.
    const auto part = [&](std::int64_t off_ns) {
      return outside_ns >= segment.gap_ns
                 ? off_ns
                 : static_cast<std::int64_t>(static_cast<double>(off_ns) * static_cast<double>(outside_ns) /
                                             static_cast<double>(segment.gap_ns));
    };
    const std::int64_t descheduled_ns = part(segment.descheduled_ns), blocked_ns = part(segment.blocked_ns);
    add({segment.site, false, Scheduled::descheduled}, descheduled_ns, to);
    add({segment.site, false, Scheduled::blocked}, blocked_ns, to);
    add({segment.site}, outside_ns - descheduled_ns - blocked_ns, to);
    totals.outside_ns = sum(totals.outside_ns, outside_ns);
    if (segment.number == of.to) break;
    const std::int64_t waited_ns = sum(segment.enter_ns, segment.wait_ns);
    const std::int64_t own_ns = since(since_ns, waited_ns, sum(segment.enter_ns, segment.call_ns));
    const std::int64_t descheduled_in_call_ns = std::min(segment.descheduled_in_call_ns, own_ns);
    add({segment.site, true, Scheduled::descheduled}, descheduled_in_call_ns, to);
    add({segment.site, true}, own_ns - descheduled_in_call_ns, to);
    totals.in_calls_ns = sum(totals.in_calls_ns, own_ns);
    totals.waits_ns = sum(totals.waits_ns, since(since_ns, segment.enter_ns, waited_ns));
  }
  return totals;
}

void Delays::pass_on(WaitState& wait, const Of& cause, std::int64_t since_ns, double share) {
  const History& history = cause.history;
  for (std::size_t i = history.find_at(since_ns); i < history.size() && history[i].number < cause.to; ++i) {
    const Segment& segment = history[i];
    if (segment.roots.empty()) continue;
    const std::int64_t wait_ns = since(since_ns, segment.enter_ns, sum(segment.enter_ns, segment.wait_ns));
    for (const RootCause& root : segment.roots)
      add_root(wait, root.rank, root.activity, root.share * share * static_cast<double>(wait_ns));
  }
}

void Delays::charge(WaitState& wait, const Of& waiting, const Of& cause) {
  touched_.clear();
  const std::int64_t since_ns = std::max(
      {known_since_ns(waiting.history), known_since_ns(cause.history), std::min(met_ns(waiting), met_ns(cause))});
  const Totals own = add(waiting, since_ns, &Spent::waiting_ns);
  const Totals its = add(cause, since_ns, &Spent::cause_ns);
  // By how much the cause spent more time outside MPI, in calls, and waiting. Time that the waiting rank spent in the
  // same way, even if at another place, made it late as well.
  const std::int64_t outside_ns = more_ns(its.outside_ns, own.outside_ns);
  const std::int64_t in_calls_ns = more_ns(its.in_calls_ns, own.in_calls_ns);
  const std::int64_t passed_on_ns = more_ns(its.waits_ns, own.waits_ns);
  double longer_outside = 0, longer_in_calls = 0;
  for (const std::uint32_t activity : touched_) {
    const Spent& spent = spent_[activity];
    (activity_of(activity).in_call ? longer_in_calls : longer_outside) +=
        static_cast<double>(more_ns(spent.cause_ns, spent.waiting_ns));
  }
  // What is no longer known of the two explains no part of the wait.
  const double all =
      std::max(static_cast<double>(outside_ns) + static_cast<double>(in_calls_ns) + static_cast<double>(passed_on_ns),
               static_cast<double>(wait.wait_ns));
  const double of_outside = longer_outside > 0 ? static_cast<double>(outside_ns) / all / longer_outside : 0;
  const double of_calls = longer_in_calls > 0 ? static_cast<double>(in_calls_ns) / all / longer_in_calls : 0;
  double delay = 0, longest = 0;
  for (const std::uint32_t activity : touched_) {
    Spent& spent = spent_[activity];
    const SiteActivity of = activity_of(activity);
    const double share =
        static_cast<double>(more_ns(spent.cause_ns, spent.waiting_ns)) * (of.in_call ? of_calls : of_outside);
    spent = {};
    if (all <= 0 || share <= 0) continue;
    delay += share;
    add_root(wait, wait.cause_rank, of, share);
    if (share > longest) {
      longest = share;
      wait.delay = of;
    }
  }
  const auto wait_ns = static_cast<double>(wait.wait_ns);
  wait.delay_ns = static_cast<std::int64_t>(wait_ns * delay);
  wait.longest_delay_ns = static_cast<std::int64_t>(wait_ns * longest);
  if (passed_on_ns > 0) {
    const double passed_on = static_cast<double>(passed_on_ns) / all;
    wait.passed_on_ns = static_cast<std::int64_t>(wait_ns * passed_on);
    pass_on(wait, cause, since_ns, passed_on / static_cast<double>(its.waits_ns));
  }
  keep_largest(wait.roots);
}

}  // namespace tare::reader
