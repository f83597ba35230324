#include "recorder/budget/governor.h"

#include <algorithm>

namespace tare::recorder {
namespace {

constexpr double margin = 0.93;       // the share of the budget that is spent, because costs are estimates
constexpr double rate_ms = 20;        // the time over which the rate of calls is averaged
constexpr double drain_ms = 1000;     // the time over which drains are averaged
constexpr double restore_ms = 500;    // the time within which the balance returns to zero
constexpr double saved_ms = 300;      // the highest balance is the budget of this time
constexpr double owed_ms = 2000;      // the lowest balance is minus the budget of this time
constexpr double overdrawn_ms = 50;   // a spell is cut if it has overspent the budget of this time
constexpr double surprise = 3;        // a spell is cut if it costs so many times what was planned
constexpr unsigned max_weighed = 32;  // the number of calls over which costs are averaged
// The least share of measured spells, so that the profile of a long run is never empty: it is the lesser of these two.
constexpr double min_measured = 0.02;  // of the spells
constexpr double min_spent = 0.25;     // of the budget, spent on them
// The least share of spells that only count, where only these show that the budget is kept.
constexpr double min_counted = 0.1;
constexpr double enough = 0.8;  // all calls are timed again if that takes no more than this share of the budget
// Nanoseconds of a call, until calls have been weighed.
constexpr double thinned_ns = 30, profiling_ns = 60, tracing_ns = 25, draining_ns = 30;
// Nanoseconds of a call that is only counted. They are too few to be weighed.
constexpr double bypassing_ns = 1, counting_ns = 5;

}  // namespace

void Governor::begin(const Progress& progress, double ticks_per_ms) noexcept {
  last_ = progress;
  ticks_per_ms_ = ticks_per_ms;
  balance_ = 0;
}

void Governor::note_cost(Depth depth, std::uint64_t ticks) noexcept {
  double& cost = cost_[static_cast<unsigned>(depth)];
  unsigned& weighed = weighed_[static_cast<unsigned>(depth)];
  const auto taken = static_cast<double>(ticks);
  if (++weighed == 1) {
    cost = taken;
    return;
  }
  // An interrupted call says nothing about the others, also if it was the first. A kind of call that costs more shows
  // within a few calls.
  if (weighed <= max_weighed) cost = std::min(cost, 32 * taken);
  cost += (std::min(taken, 8 * cost) - cost) / std::min(weighed, max_weighed);
}

double Governor::account_of_call(Depth depth) const noexcept {
  const double ns = ticks_per_ms_ * 1e-6;
  const double known = cost_[static_cast<unsigned>(depth)];
  const double trace = cost_[static_cast<unsigned>(Depth::trace)];
  switch (depth) {
    case Depth::counts:
      return counting_ != 0 ? counting_ : bypassing_ns * ns;
    case Depth::thinned:
      return known != 0 ? known : std::min(thinned_ns * ns, account_of_call(Depth::profile));
    case Depth::profile:
      if (known != 0) return known;
      return trace != 0 ? std::max(trace - tracing_ns * ns, trace / 2) : profiling_ns * ns;
    case Depth::trace:
      return known != 0 ? known : account_of_call(Depth::profile) + tracing_ns * ns;
  }
  return 0;
}

Costs Governor::account() const noexcept {
  Costs costs;
  for (unsigned depth = 0; depth < depths; ++depth) costs.of[depth] = account_of_call(static_cast<Depth>(depth));
  return costs;
}

double Governor::cost_without_drains(Depth depth) const noexcept {
  const double factor = factor_[static_cast<unsigned>(depth)];
  return (factor != 0 ? factor : 1) * account_of_call(depth);
}

double Governor::cost_of(Depth depth) const noexcept {
  if (depth != Depth::trace) return cost_without_drains(depth);
  const double drain = drained_calls_ >= 1 ? drained_ticks_ / drained_calls_ : draining_ns * ticks_per_ms_ * 1e-6;
  return cost_without_drains(depth) + drain;
}

double Governor::highest_balance(const Budget& budget) const noexcept {
  // Enough to trace a whole spell of the present length.
  return std::max(budget.share * saved_ms * ticks_per_ms_, 2 * planned_ * planned_ticks_);
}

void Governor::advance(const Budget& budget, Depth depth, const Progress& progress) noexcept {
  if (!has_begun() || progress.time <= last_.time) return;
  const auto ticks = static_cast<double>(progress.time - last_.time);
  const auto calls = static_cast<double>(progress.calls - last_.calls);
  const auto counted = static_cast<double>(progress.counted - last_.counted);
  const auto in_wrappers = static_cast<double>(progress.in_wrappers - last_.in_wrappers);
  const auto flushed = static_cast<double>(progress.flush_ticks - last_.flush_ticks);
  const auto others = static_cast<double>(progress.other_ticks - last_.other_ticks);
  last_ = progress;
  if (counted > 0) {
    const double ns = bypassing_ns + (counting_ns - bypassing_ns) * in_wrappers / counted;
    const double part = counting_ == 0 ? 1 : ticks / (ticks + rate_ms * ticks_per_ms_);
    counting_ += part * (ns * ticks_per_ms_ * 1e-6 - counting_);
  }
  const double drain_part = ticks / (ticks + drain_ms * ticks_per_ms_);
  drained_ticks_ += flushed - drain_part * drained_ticks_;
  drained_calls_ += (depth == Depth::trace ? calls : 0) - drain_part * drained_calls_;
  const double own = cost_[static_cast<unsigned>(depth)] != 0 || depth != Depth::trace
                         ? cost_without_drains(depth)
                         : cost_without_drains(Depth::profile);
  balance_ +=
      margin * budget.share * ticks - calls * own - counted * cost_without_drains(Depth::counts) - flushed - others;
  balance_ = std::clamp(balance_, -budget.share * owed_ms * ticks_per_ms_, highest_balance(budget));
  rate_ += ((calls + counted) / ticks - rate_) * ticks / (ticks + rate_ms * ticks_per_ms_);
}

Governor::Shares Governor::plan(const Budget& budget, std::uint64_t expected_ticks) noexcept {
  const double counting = rate_ * cost_of(Depth::counts);
  const double timing_all = rate_ * cost_of(Depth::profile);
  const double tracing = rate_ * cost_of(Depth::trace);
  planned_ = tracing;
  planned_ticks_ = static_cast<double>(expected_ticks);
  const double earned = margin * budget.share;
  const double target = std::max(0.0, earned + balance_ / (restore_ms * ticks_per_ms_));
  const auto part = [target](double low, double high) {
    return high <= low ? 1.0 : std::clamp((target - low) / (high - low), 0.0, 1.0);
  };
  // If the budget does not allow to time all calls, what thinned profiles leave of it pays for traced spells.
  thins_ = timing_all > (thins_ ? enough * earned : earned);
  const double profiling = thins_ ? rate_ * cost_of(Depth::thinned) : timing_all;
  if (profiling < earned) {  // a negative balance comes from tracing alone
    // If measuring all calls is affordable only because spells that count show that it costs less than the account
    // says, some must go on to show it.
    const bool is_by_account = rate_ * account_of_call(profile_depth()) < earned;
    return {part(profiling, tracing), is_by_account ? 1 : 1 - min_counted};
  }
  const double least = std::min(min_measured, min_spent * budget.share / profiling);
  return {0, std::max(part(counting, profiling), least)};
}

Depth Governor::limit(const Budget& budget, Depth depth) const noexcept {
  const double overdrawn = -std::max(budget.share * overdrawn_ms * ticks_per_ms_, planned_ * planned_ticks_);
  const double spent = rate_ * cost_of(depth);
  if (depth == Depth::counts || spent <= budget.share) return depth;
  const bool is_surprise = balance_ < 0 && spent > surprise * std::max(planned_, budget.share);
  if (depth == Depth::trace) return balance_ < overdrawn || is_surprise ? Depth::thinned : depth;
  if (balance_ < 2 * overdrawn) return Depth::counts;  // twice, so that the cost of a trace alone does not lead here
  return balance_ < overdrawn || is_surprise ? Depth::thinned : depth;
}

bool Governor::has_saved(const Budget& budget) const noexcept {
  return has_begun() && balance_ >= 0.9 * budget.share * saved_ms * ticks_per_ms_;
}

}  // namespace tare::recorder
