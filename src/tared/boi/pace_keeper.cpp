#include "tared/boi/pace_keeper.h"

#include <algorithm>
#include <cmath>

namespace tare::tared {

namespace {

constexpr double first_rest_ns = 1e8;
constexpr double longest_ns = 1e10;
constexpr std::size_t rest_rounds = 12;
constexpr std::size_t unsettled_rounds = 2;  // of which each interval begins; their delays are of the one before
constexpr std::size_t window = 5;            // rounds that are judged while an interval is kept
constexpr std::uint32_t most_tries = 2;
constexpr std::uint32_t most_good_wanted = 32;
constexpr std::int64_t notice_ns = 300'000'000;  // for a decision to reach all ranks
constexpr double median_of_deviations = 1.4826;  // that of a normal distribution, times this, is its deviation

// Another program on the machine makes a round late once: medians do not see that.
Spread robust(const std::vector<double>& values) {
  const double middle = median_of(values);
  std::vector<double> distances;
  for (const double value : values) distances.push_back(std::abs(value - middle));
  return {middle, median_of_deviations * median_of(std::move(distances))};
}

}  // namespace

PaceKeeper::PaceKeeper(std::int64_t point_ns, std::int64_t epoch_ns, std::int64_t least_ns)
    : point_ns_(point_ns), epoch_ns_(epoch_ns), least_ns_(std::max(least_ns, point_ns)), interval_ns_(point_ns) {}

void PaceKeeper::add(const Round& round) {
  begun_ = true;
  longest_delay_ns_ = std::max(longest_delay_ns_ - longest_delay_ns_ / 8, round.delay_ns());
  if (round.round < from_) return;
  delays_ns_.push_back(static_cast<double>(round.delay_ns()));
  arrivals_ns_.push_back(static_cast<double>(round.arrived_ns - from_ns_));
}

Pace PaceKeeper::change_to(double interval_ns, std::int64_t now_ns) {
  const double points =
      std::ceil(std::clamp(interval_ns, static_cast<double>(point_ns_), longest_ns) / static_cast<double>(point_ns_));
  interval_ns_ = static_cast<std::int64_t>(points) * point_ns_;
  const std::int64_t ahead_ns = notice_ns + 2 * std::min<std::int64_t>(longest_delay_ns_, 1'000'000'000);
  from_ = static_cast<std::uint64_t>((now_ns + ahead_ns - epoch_ns_) / point_ns_ + 1);
  from_ns_ = epoch_ns_ + static_cast<std::int64_t>(from_) * point_ns_;
  delays_ns_.clear();
  arrivals_ns_.clear();
  return {from_, interval_ns_};
}

Burst PaceKeeper::burst(std::size_t count) const {
  const auto last = static_cast<std::ptrdiff_t>(std::min(count, delays_ns_.size()));
  return {static_cast<double>(interval_ns_),
          {delays_ns_.end() - last, delays_ns_.end()},
          {arrivals_ns_.end() - last, arrivals_ns_.end()}};
}

// So many rounds should have come by now, and twice that.
bool PaceKeeper::is_overdue(std::size_t count, std::int64_t now_ns) const {
  return now_ns - from_ns_ > 2 * static_cast<std::int64_t>(count) * interval_ns_ + 4 * notice_ns;
}

std::optional<Pace> PaceKeeper::decide(std::int64_t now_ns) {
  if (!begun_) return {};
  if (from_ == 0) return change_to(first_rest_ns, now_ns);
  if (now_ns < from_ns_) return {};
  switch (state_) {
    case State::rests:
      return end_rest(now_ns);
    case State::searches:
      return go_on_searching(now_ns);
    case State::keeps:
      return keep(now_ns);
  }
  return {};
}

std::optional<Pace> PaceKeeper::end_rest(std::int64_t now_ns) {
  if (delays_ns_.size() < rest_rounds + unsettled_rounds) {
    if (!is_overdue(rest_rounds + unsettled_rounds, now_ns)) return {};
    return change_to(2.0 * static_cast<double>(interval_ns_), now_ns);
  }
  rest_ = robust(burst(rest_rounds).delays_ns);
  // They wait for one another: this is no rest.
  if (rest_.mean > static_cast<double>(interval_ns_) / 2 && static_cast<double>(interval_ns_) < longest_ns)
    return change_to(2.0 * static_cast<double>(interval_ns_), now_ns);
  search_.emplace(rest_, 0, SearchSettings{});
  state_ = State::searches;
  return change_to(search_->interval_ns(), now_ns);
}

std::optional<Pace> PaceKeeper::go_on_searching(std::int64_t now_ns) {
  const SearchSettings settings;
  Burst measured = burst(settings.rounds);
  if (delays_ns_.size() < settings.rounds + unsettled_rounds) {
    if (!is_overdue(settings.rounds + unsettled_rounds, now_ns)) return {};
    // What has not come counts as coming now.
    while (measured.delays_ns.size() < settings.rounds) {
      measured.delays_ns.push_back(static_cast<double>(now_ns - from_ns_));
      measured.arrivals_ns.push_back(static_cast<double>(now_ns - from_ns_));
    }
  }
  const bool is_saturated = judge(measured, rest_, settings).is_saturated(settings.rule);
  if (is_saturated && ++tries_ < most_tries) return change_to(search_->interval_ns(), now_ns);
  tries_ = 0;
  search_->add(measured);
  // Points are no closer together than this, so nobody offloads more often.
  const bool is_at_the_least = !is_saturated && interval_ns_ == point_ns_;
  if (!search_->is_done() && !is_at_the_least) return change_to(search_->interval_ns(), now_ns);
  boi_ns_ = is_at_the_least ? static_cast<double>(point_ns_) : search_->boi_ns();
  state_ = State::keeps;
  return change_to(target_ns(), now_ns);
}

double PaceKeeper::target_ns() const { return std::max(2 * boi_ns_, static_cast<double>(least_ns_)); }

std::optional<Pace> PaceKeeper::keep(std::int64_t now_ns) {
  const bool is_full = delays_ns_.size() >= window;
  if (!is_full && !is_overdue(window, now_ns)) return {};
  const SearchSettings settings;
  const Verdict verdict = judge(burst(window), rest_, settings);
  const bool is_behind = !is_full || verdict.arrives_slowly || verdict.is_late;
  delays_ns_.clear();
  arrivals_ns_.clear();
  if (is_behind) {
    good_ = 0;
    if (stepped_down_) good_wanted_ = std::min(2 * good_wanted_, most_good_wanted);
    stepped_down_ = false;
    if (static_cast<double>(interval_ns_) >= longest_ns) return {};
    return change_to(2.0 * static_cast<double>(interval_ns_), now_ns);
  }
  stepped_down_ = false;
  const double target = target_ns();
  if (static_cast<double>(interval_ns_) < target + static_cast<double>(point_ns_)) {
    good_wanted_ = 1;
    return {};
  }
  if (++good_ < good_wanted_) return {};
  good_ = 0;
  stepped_down_ = true;
  return change_to(std::max(static_cast<double>(interval_ns_) / 2, target), now_ns);
}

}  // namespace tare::tared
