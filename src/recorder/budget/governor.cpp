#include "recorder/budget/governor.h"

#include <algorithm>

namespace tare::recorder {
namespace {

constexpr double margin = 0.95;          // of the budget that is spent: the account is an estimate
constexpr double rate_ms = 20;           // over which the rate of calls is averaged
constexpr double drain_ms = 1000;        // over which drains are
constexpr double restore_ms = 500;       // within which the balance is made even
constexpr double saved_ms = 300;         // of time: its budget is saved at most,
constexpr double owed_ms = 2000;         // and owed
constexpr double overdrawn_ms = 50;      // owed beyond what was planned: the spell is cut
constexpr double surprise = 3;           // times the planned cost
constexpr double weighed_calls = 32;     // over which costs are averaged
constexpr double least_measured = 0.02;  // of the spells
constexpr double enough = 0.8;           // of the budget: if timing all calls takes no more, it begins again
// In nanoseconds: of a call that is only counted (one that goes straight takes 1), and until calls have been weighed.
constexpr double counting_ns = 2, thinned_ns = 30, profiling_ns = 60, tracing_ns = 25, draining_ns = 30;

}  // namespace

void Governor::begin(const Progress& progress, double ticks_per_ms) noexcept {
  last_ = progress;
  ticks_per_ms_ = ticks_per_ms;
  balance_ = 0;
}

void Governor::note_cost(Depth depth, std::uint64_t ticks) noexcept {
  double& cost = cost_[static_cast<unsigned>(depth)];
  const auto taken = static_cast<double>(ticks);
  // One that was interrupted says nothing of the others, but a dearer kind of call shows within a few.
  cost = cost == 0 ? taken : cost + (std::min(taken, 8 * cost) - cost) / weighed_calls;
}

double Governor::account_of_call(Depth depth) const noexcept {
  const double ns = ticks_per_ms_ * 1e-6;
  const double known = cost_[static_cast<unsigned>(depth)];
  const double trace = cost_[static_cast<unsigned>(Depth::trace)];
  switch (depth) {
    case Depth::counts:
      return counting_ns * ns;
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

double Governor::account_of(Depth depth, std::uint64_t calls) const noexcept {
  return account_of_call(depth) * static_cast<double>(calls);
}

double Governor::paid_for(Depth depth) const noexcept {
  const double factor = factor_ != 0 && depth != Depth::counts ? factor_ : 1;
  return factor * account_of_call(depth);
}

double Governor::cost_of(Depth depth) const noexcept {
  if (depth != Depth::trace) return paid_for(depth);
  const double drain = drained_calls_ >= 1 ? drained_ticks_ / drained_calls_ : draining_ns * ticks_per_ms_ * 1e-6;
  return paid_for(depth) + drain;
}

double Governor::most_saved(const Budget& budget) const noexcept {
  // Enough to trace a whole spell of the length that they have now.
  return std::max(budget.share * saved_ms * ticks_per_ms_, 2 * planned_ * planned_ticks_);
}

void Governor::advance(const Budget& budget, Depth depth, const Progress& progress) noexcept {
  if (!has_begun() || progress.time <= last_.time) return;
  const auto ticks = static_cast<double>(progress.time - last_.time);
  const auto calls = static_cast<double>(progress.calls - last_.calls);
  const auto counted = static_cast<double>(progress.counted - last_.counted);
  const auto flushed = static_cast<double>(progress.flush_ticks - last_.flush_ticks);
  last_ = progress;
  const double drain_part = ticks / (ticks + drain_ms * ticks_per_ms_);
  drained_ticks_ += flushed - drain_part * drained_ticks_;
  drained_calls_ += (depth == Depth::trace ? calls : 0) - drain_part * drained_calls_;
  const double own =
      cost_[static_cast<unsigned>(depth)] != 0 || depth != Depth::trace ? paid_for(depth) : paid_for(Depth::profile);
  balance_ += margin * budget.share * ticks - calls * own - counted * paid_for(Depth::counts) - flushed;
  balance_ = std::clamp(balance_, -budget.share * owed_ms * ticks_per_ms_, most_saved(budget));
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
  // Where the times of all calls cannot be had, what is left goes to a trace of some spells.
  thins_ = timing_all > (thins_ ? enough * earned : earned);
  const double profiling = thins_ ? rate_ * cost_of(Depth::thinned) : timing_all;
  if (profiling < earned) return {part(profiling, tracing), 1};  // what is owed was the trace's
  return {0, std::max(part(counting, profiling), least_measured)};
}

Depth Governor::limit(const Budget& budget, Depth depth) const noexcept {
  const double overdrawn = -std::max(budget.share * overdrawn_ms * ticks_per_ms_, planned_ * planned_ticks_);
  const double spent = rate_ * cost_of(depth);
  if (depth == Depth::counts || spent <= budget.share) return depth;
  const bool is_surprise = balance_ < 0 && spent > surprise * std::max(planned_, budget.share);
  if (depth == Depth::trace) return balance_ < overdrawn || is_surprise ? Depth::thinned : depth;
  if (balance_ < 2 * overdrawn) return Depth::counts;  // not for what the trace has cost
  return balance_ < overdrawn || is_surprise ? Depth::thinned : depth;
}

bool Governor::has_saved(const Budget& budget) const noexcept {
  return has_begun() && balance_ >= 0.9 * budget.share * saved_ms * ticks_per_ms_;
}

}  // namespace tare::recorder
