#include "tared/boi/pace_keeper.h"

#include <algorithm>
#include <cmath>

#include "monitor/cadence.h"

namespace tare::tared {

namespace {

constexpr double first_rest_ns = 1e8;
constexpr double longest_ns = 1e10;
constexpr std::size_t rest_rounds = 12;
constexpr std::size_t unsettled_rounds = 2;  // first rounds at each interval, with delays of the one before
constexpr std::size_t window = 5;            // rounds that are judged together while an interval is kept
constexpr std::size_t buffered_rounds = 20;  // rounds that come late if the interval was too short
constexpr std::uint32_t max_tries = 2;
constexpr std::uint32_t max_good_wanted = 32;
constexpr std::int64_t notice_ns = 300'000'000;  // time for a decision to reach all ranks
constexpr double median_of_deviations = 1.4826;  // standard deviation / median deviation, if normal
// When to search again:
constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t first_again_ns = 10 * second;
constexpr std::int64_t last_again_ns = 600 * second;
constexpr std::uint32_t changed_wanted = 3;
constexpr double no_change = 0.25;  // change of the BOI, or of the size of profiles, that counts as none
constexpr double other_delay = 2;   // multiple of the delay at rest that counts as another delay

// Medians, because another program on the machine may make single rounds late.
Spread robust(const std::vector<double>& values) {
  const double middle = median_of(values);
  std::vector<double> distances;
  distances.reserve(values.size());
  for (const double value : values) distances.push_back(std::abs(value - middle));
  return {middle, median_of_deviations * median_of(std::move(distances))};
}

}  // namespace

PaceKeeper::PaceKeeper(PointClock points, std::int64_t min_ns)
    : points_(std::move(points)), min_ns_(static_cast<double>(min_ns)), search_again_ns_(first_again_ns) {}

std::int64_t PaceKeeper::interval_ns() const {
  return static_cast<std::int64_t>(static_cast<double>(every_) * points_.point_ns());
}

void PaceKeeper::add(const Round& round) {
  begun_ = true;
  points_.add(round.round, round.first_offload_ns);
  longest_delay_ns_ = std::max(longest_delay_ns_ - longest_delay_ns_ / 8, round.delay_ns());
  if (round.round < from_) return;
  arrivals_.push_back({round.round, static_cast<double>(round.first_offload_ns - from_ns_),
                       static_cast<double>(round.arrived_ns - from_ns_), round.dropped});
}

// Measured intervals of points are not exact, so slightly more than n points counts as n.
std::uint64_t PaceKeeper::every_of(double interval_ns) const {
  constexpr double hardly = 0.02;
  const double points = std::ceil(std::min(interval_ns, longest_ns) / points_.point_ns() - hardly);
  return std::clamp<std::uint64_t>(static_cast<std::uint64_t>(std::max(points, 1.0)), 1, monitor::Cadence::most);
}

Pace PaceKeeper::change_to(double interval_ns, std::int64_t now_ns) {
  return change_to_every(every_of(interval_ns), now_ns);
}

Pace PaceKeeper::change_to_every(std::uint64_t every, std::int64_t now_ns) {
  every_ = every;
  const std::int64_t ahead_ns = notice_ns + 2 * std::min<std::int64_t>(longest_delay_ns_, second);
  from_ = points_.point_after(now_ns + ahead_ns);
  from_ns_ = since_ns_ = points_.time_of(from_);
  arrivals_.clear();
  left_behind_ = std::max(left_behind_, unsettled_rounds);
  return {from_, interval_ns(), every_};
}

// For the last rounds. Points of a program are not regular, so their interval is measured. Rounds that ranks have
// dropped count.
Burst PaceKeeper::burst(std::size_t count) const {
  Burst last;
  const std::size_t begin = arrivals_.size() - std::min(count, arrivals_.size());
  for (std::size_t i = begin; i < arrivals_.size(); ++i) {
    last.delays_ns.push_back(arrivals_[i].arrived_ns - arrivals_[i].offloaded_ns);
    last.arrivals_ns.push_back(arrivals_[i].arrived_ns);
  }
  last.interval_ns = static_cast<double>(interval_ns());
  if (points_.is_by_program() && arrivals_.size() > begin + 1) {
    const Arrival& first = arrivals_[begin];
    const auto points = static_cast<double>(arrivals_.back().round - first.round);
    last.interval_ns = (arrivals_.back().offloaded_ns - first.offloaded_ns) / points * static_cast<double>(every_);
  }
  return last;
}

// Dropped snapshots before the last `count` rounds.
std::uint64_t PaceKeeper::dropped(std::size_t count) const {
  std::uint64_t all = 0;
  for (std::size_t i = arrivals_.size() - std::min(count, arrivals_.size()); i < arrivals_.size(); ++i)
    all += arrivals_[i].dropped;
  return all;
}

// Whether twice the time has passed in which so many rounds should have come. Not known if the program makes the
// points.
bool PaceKeeper::is_overdue(std::size_t count, std::int64_t now_ns) const {
  return !points_.is_by_program() &&
         now_ns - since_ns_ > 2 * static_cast<std::int64_t>(count) * interval_ns() + 4 * notice_ns;
}

std::optional<Pace> PaceKeeper::decide(std::int64_t now_ns) {
  if (!begun_ || !points_.is_known()) return {};
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
  if (arrivals_.size() < rest_rounds + unsettled_rounds) {
    if (!is_overdue(rest_rounds + unsettled_rounds, now_ns)) return {};
    return change_to(2.0 * static_cast<double>(interval_ns()), now_ns);
  }
  const Burst measured = burst(rest_rounds);
  rest_ = robust(measured.delays_ns);
  // Rounds wait for one another, so this is not the delay at rest.
  if (rest_.mean > measured.interval_ns / 2 && measured.interval_ns < longest_ns)
    return change_to(2.0 * measured.interval_ns, now_ns);
  search_.emplace(rest_, 0, SearchSettings{});
  taken_ = refused_ = 0;
  state_ = State::searches;
  return change_to(search_->interval_ns(), now_ns);
}

std::optional<Pace> PaceKeeper::go_on_searching(std::int64_t now_ns) {
  const SearchSettings settings;
  Burst measured = burst(settings.rounds);
  if (arrivals_.size() < settings.rounds + unsettled_rounds) {
    if (!is_overdue(settings.rounds + unsettled_rounds, now_ns)) return {};
    // A round that has not come counts as if it came now.
    while (measured.delays_ns.size() < settings.rounds) {
      measured.delays_ns.push_back(static_cast<double>(now_ns - from_ns_));
      measured.arrivals_ns.push_back(static_cast<double>(now_ns - from_ns_));
    }
  }
  const bool is_saturated = judge(measured, rest_, settings).is_saturated(settings.rule);
  if (is_saturated && ++tries_ < max_tries) return change_to(search_->interval_ns(), now_ns);
  tries_ = 0;
  search_->add(measured);
  if (is_saturated)
    refused_ = std::max(refused_, every_);
  else
    taken_ = taken_ == 0 ? every_ : std::min(taken_, every_);
  // Intervals are whole numbers of points, at least one.
  if (taken_ == 1) return end_search(1, true, now_ns);
  if (taken_ != 0 && taken_ <= refused_ + 1) return end_search(taken_, false, now_ns);
  if (search_->is_done()) return end_search(every_of(search_->boi_ns()), false, now_ns);
  return change_to(search_->interval_ns(), now_ns);
}

Pace PaceKeeper::end_search(std::uint64_t every, bool is_bound, std::int64_t now_ns) {
  const double before_ns = boi_ns_;
  boi_ns_ = static_cast<double>(every) * points_.point_ns();
  found_ = {boi_ns_, std::max(search_->range_ns(), points_.point_ns()), is_bound, rest_};
  const bool is_the_same = before_ns != 0 && std::abs(boi_ns_ / before_ns - 1) <= no_change;
  search_again_ns_ = is_the_same ? std::min(2 * search_again_ns_, last_again_ns) : first_again_ns;
  searched_ns_ = now_ns;
  searched_events_ = events_;
  stepped_up_ = stepped_down_ = false;
  good_ = changed_ = 0;
  good_wanted_ = 1;
  left_behind_ = buffered_rounds;
  state_ = State::keeps;
  return change_to(target_ns(), now_ns);
}

bool PaceKeeper::is_settled() const {
  return state_ == State::keeps && since_ns_ - std::max(from_ns_, behind_ns_) >= second;
}

double PaceKeeper::target_ns() const { return std::max(2 * boi_ns_, min_ns_); }

std::optional<Pace> PaceKeeper::keep(std::int64_t now_ns) {
  const bool is_full = arrivals_.size() >= window + left_behind_;
  if (!is_full && !is_overdue(window + left_behind_, now_ns)) return {};
  const std::size_t skipped = std::min(std::exchange(left_behind_, 0), arrivals_.size());
  const SearchSettings settings;
  const Burst last = burst(window);
  const Verdict verdict = judge(last, rest_, settings);
  const bool is_late = !is_full || verdict.arrives_slowly || verdict.is_late;
  const bool has_lost = dropped(arrivals_.size() - skipped) > 0;
  const double interval = last.interval_ns;
  arrivals_.clear();
  since_ns_ = now_ns;
  if (is_late || has_lost) {
    good_ = 0;
    behind_ns_ = now_ns;
    if (stepped_down_) good_wanted_ = std::min(2 * good_wanted_, max_good_wanted);
    stepped_down_ = false;
    // Where rounds come in time, a search would find no other interval than the last one.
    stepped_up_ |= is_late;
    if (interval >= longest_ns || every_ == monitor::Cadence::most) return {};
    return change_to_every(std::min(2 * every_, every_of(longest_ns)), now_ns);
  }
  if (is_to_search_anew(median_of(last.delays_ns), now_ns)) {
    state_ = State::rests;
    return change_to_every(every_, now_ns);
  }
  if (now_ns - from_ns_ >= good_wanted_ * second) stepped_down_ = false;
  const double target = target_ns();
  // The program makes points more often than before.
  if (interval < (1 - no_change) * target) return change_to(target, now_ns);
  if (interval < target + points_.point_ns()) {
    if (!stepped_down_) good_wanted_ = 1;
    return {};
  }
  if (++good_ < good_wanted_ || now_ns - behind_ns_ < good_wanted_ * second) return {};
  good_ = 0;
  stepped_down_ = true;
  return change_to(std::max(interval / 2, target), now_ns);
}

// To be called for rounds that came in time.
bool PaceKeeper::is_to_search_anew(double delay_ns, std::int64_t now_ns) {
  const double target = target_ns();
  // Delays depend on the interval only if they are, or were, a considerable part of it.
  const bool is_later = delay_ns > other_delay * rest_.mean && delay_ns > target / 4;
  const bool is_earlier = delay_ns < rest_.mean / other_delay && target > min_ns_ + points_.point_ns();
  const bool has_grown = events_ > static_cast<std::uint32_t>((1 + no_change) * searched_events_);
  changed_ = is_later || is_earlier || has_grown || stepped_up_ ? changed_ + 1 : 0;
  return changed_ >= changed_wanted && now_ns - searched_ns_ >= search_again_ns_;
}

}  // namespace tare::tared
