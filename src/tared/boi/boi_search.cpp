#include "tared/boi/boi_search.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tare::tared {

namespace {
constexpr double slower_by = 1.1;  // arrivals in relation to offloads: "within 10 %", as in Figure 7 of the paper
constexpr double min_relative_error = 0.04;
constexpr std::size_t max_steps = 40;
// For the confirmation.
constexpr double long_enough_ns = 1e8;
constexpr std::uint32_t min_rounds = 100;
constexpr double confirmed_within = 0.05;
constexpr double step_down = 0.8;  // from an interval that is sustained
constexpr double sustained_within = 0.03;
}  // namespace

Spread spread_of(std::span<const double> values) {
  Spread spread;
  if (values.empty()) return spread;
  spread.mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  double squares = 0;
  for (const double value : values) squares += (value - spread.mean) * (value - spread.mean);
  if (values.size() > 1) spread.deviation = std::sqrt(squares / static_cast<double>(values.size() - 1));
  return spread;
}

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

Verdict judge(const Burst& burst, const Spread& rest, const SearchSettings& settings) {
  Verdict verdict;
  const std::size_t count = burst.delays_ns.size();
  if (count < 2) return verdict;
  const double steps = static_cast<double>(count - 1);
  verdict.growth_ns = (burst.delays_ns.back() - burst.delays_ns.front()) / steps;
  verdict.mean_delay_ns = spread_of(burst.delays_ns).mean;
  // Means over quarters and medians of rounds, because one late round says nothing.
  const auto quarter = static_cast<std::ptrdiff_t>((count + 3) / 4);
  const Spread first = spread_of(std::span(burst.arrivals_ns).first(quarter));
  const Spread last = spread_of(std::span(burst.arrivals_ns).last(quarter));
  verdict.last_delay_ns = median_of({burst.delays_ns.end() - quarter, burst.delays_ns.end()});
  verdict.arrival_interval_ns =
      (last.mean - first.mean) / static_cast<double>(count - static_cast<std::size_t>(quarter));
  const double threshold = rest.mean + settings.k * rest.deviation;
  verdict.grows = verdict.growth_ns > rest.deviation && verdict.mean_delay_ns > threshold;
  verdict.arrives_slowly = verdict.arrival_interval_ns > slower_by * burst.interval_ns;
  // Without a queue, a round waits for at most the round before it.
  verdict.is_late = verdict.last_delay_ns > threshold + std::max(burst.interval_ns, rest.mean);
  return verdict;
}

double typical_arrival_interval(const Burst& burst) {
  constexpr std::size_t parts = 10;
  // The first rounds only fill the buffers.
  const std::size_t first = burst.arrivals_ns.size() / 5;
  const std::size_t length = (burst.arrivals_ns.size() - first) / parts;
  if (length < 2) return 0;
  std::vector<double> intervals;
  for (std::size_t begin = first; begin + length < burst.arrivals_ns.size(); begin += length)
    intervals.push_back((burst.arrivals_ns[begin + length] - burst.arrivals_ns[begin]) / static_cast<double>(length));
  // Rounds that arrive faster than they were sent were delayed before.
  return std::max(median_of(std::move(intervals)), burst.interval_ns);
}

std::uint32_t Confirmation::rounds() const {
  return static_cast<std::uint32_t>(std::clamp<double>(long_enough_ns / boi_, min_rounds, max_rounds));
}

void Confirmation::add(const Burst& burst) {
  const double arrives = typical_arrival_interval(burst);
  const double sent = interval_ns();
  steps_.push_back({sent, arrives});
  if (!lowers_) return confirm(sent, arrives);
  is_lowest_ = arrives <= 0 || arrives > (1 + sustained_within) * sent;
  if (is_lowest_) return;
  boi_ = sent;
  ++lowered_;
}

void Confirmation::confirm(double sent, double arrives) {
  is_confirmed_ = std::abs(arrives / boi_ - 1) <= confirmed_within;
  lowers_ = is_confirmed_ || (is_sustained_ && arrives > boi_);
  if (is_confirmed_) boi_ = (boi_ + arrives) / 2;
  if (lowers_) return;
  if (arrives > 0) {
    is_sustained_ = arrives <= (1 + confirmed_within) * sent;
    boi_ = is_sustained_ ? step_down * boi_ : arrives;
  }
  if (!is_done()) return;
  std::vector<double> last;
  for (std::size_t i = steps_.size() - 3; i < steps_.size(); ++i) last.push_back(steps_[i].arrival_interval_ns);
  boi_ = median_of(std::move(last));
}

BoiSearch::BoiSearch(const Spread& rest, double low_ns, const SearchSettings& settings)
    : rest_(rest), settings_(settings), low_(std::min(low_ns, rest.mean)), high_(rest.mean), current_(rest.mean) {}

double BoiSearch::error_ns() const {
  const double printed = 2 * rest_.deviation;
  if (settings_.rule == Rule::printed) return printed;
  // If the delay at rest is noisy, the printed threshold is as wide as the range, and a tenth of it is still noise.
  return std::min(std::max(printed, min_relative_error * high_), 0.1 * high_);
}

void BoiSearch::add(const Burst& burst) {
  const Verdict verdict = judge(burst, rest_, settings_);
  const bool is_saturated = verdict.is_saturated(settings_.rule);
  steps_.push_back({current_, low_, high_, verdict, is_saturated});
  if (is_saturated && !has_bound_ && current_ >= high_ && settings_.rule == Rule::guarded) {
    low_ = current_;
    high_ = current_ = 2 * current_;
  } else if (is_saturated) {
    low_ = current_;
    current_ = (current_ + high_) / 2;
  } else {
    has_bound_ = true;
    high_ = current_;
    current_ = (low_ + current_) / 2;
  }
  const bool is_narrow = high_ - low_ < error_ns() && (has_bound_ || settings_.rule == Rule::printed);
  if (!is_narrow && steps_.size() < max_steps) return;
  is_done_ = true;
  const bool ends_high = settings_.rule == Rule::guarded || verdict.growth_ns > threshold_ns();
  boi_ = ends_high ? high_ : current_;
}

}  // namespace tare::tared
