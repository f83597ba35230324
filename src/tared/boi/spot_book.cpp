#include "tared/boi/spot_book.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <span>
#include <sstream>
#include <utility>
#include <vector>

#include "tared/own_file.h"

namespace tare::tared {

using format::SweetSpot;
using format::SweetSpots;

namespace {
constexpr std::size_t last_rounds = 32;
constexpr std::uint64_t tell_every_ns = 1'000'000'000;
}  // namespace

void SpotBook::events(std::uint32_t events) {
  if (events == events_) return;
  events_ = events;
  delays_ns_.clear();
}

// If there are too many sizes, keeps the first, the last and every second one in between.
void SpotBook::cached(std::vector<SweetSpot> spots) {
  std::ranges::sort(spots, {}, &SweetSpot::events);
  const auto same = [](const SweetSpot& left, const SweetSpot& right) { return left.events == right.events; };
  spots.erase(std::unique(spots.begin(), spots.end(), same), spots.end());
  while (spots.size() > max_cached)
    for (std::size_t i = 1; i + 1 < spots.size(); ++i) spots.erase(spots.begin() + static_cast<std::ptrdiff_t>(i));
  for (SweetSpot& spot : spots) spot.source = format::SpotSource::cached;
  has_changed_ |= !spots.empty() || !cached_.empty();
  cached_ = std::move(spots);
}

SweetSpot& SpotBook::spot() {
  const auto known = std::ranges::find(spots_, events_, &SweetSpot::events);
  SweetSpot spot;
  spot.events = events_;
  if (known != spots_.end()) {
    spot = *known;
    spots_.erase(known);
  }
  if (spots_.size() == most_of_this_run) spots_.pop_front();
  return spots_.emplace_back(spot);
}

void SpotBook::found(const Found& found) {
  if (events_ == 0) return;
  SweetSpot& known = spot();
  known.source = format::SpotSource::measured;
  known.boi_ns = found.boi_ns;
  known.boi_spread_ns = found.spread_ns;
  known.is_bound = found.is_bound ? 1 : 0;
  known.rest_ns = found.rest.mean;
  known.rest_deviation_ns = found.rest.deviation;
  found_events_ = events_;
  has_changed_ = true;
}

void SpotBook::round(const Round& round) {
  if (events_ == 0) return;
  delays_ns_.push_back(static_cast<double>(round.delay_ns()));
  if (delays_ns_.size() > last_rounds) delays_ns_.pop_front();
  has_round_ = true;
}

std::optional<SweetSpots> SpotBook::take_update(std::uint64_t now_ns) {
  if (!has_changed_ && (!has_round_ || now_ns - reported_ns_ < tell_every_ns)) return {};
  if (has_round_) {
    const Spread delay = spread_of(std::vector<double>(delays_ns_.begin(), delays_ns_.end()));
    SweetSpot& known = spot();
    known.delay_ns = std::max(delay.mean, 0.0);  // the difference of two nodes' clocks can make it negative
    known.delay_deviation_ns = delay.deviation;
  }
  has_changed_ = has_round_ = false;
  reported_ns_ = now_ns;
  return all();
}

std::optional<SweetSpot> SpotBook::last_found() const {
  const auto found = std::ranges::find(spots_, found_events_, &SweetSpot::events);
  if (found_events_ == 0 || found == spots_.end()) return {};
  return *found;
}

SweetSpots SpotBook::all() const {
  SweetSpots told;
  told.events = events_;
  std::ranges::copy(spots_, told.of.begin());
  const auto of_this_run = std::span(told.of).first(spots_.size());
  std::size_t count = spots_.size();
  for (const SweetSpot& before : cached_) {
    const auto now = std::ranges::find(of_this_run, before.events, &SweetSpot::events);
    if (now == of_this_run.end()) {
      told.of[count++] = before;
      continue;
    }
    now->direct_ns = before.direct_ns;
    if (now->boi_ns < 0) {
      const SweetSpot measured = *now;
      *now = before;
      now->delay_ns = measured.delay_ns;
      now->delay_deviation_ns = measured.delay_deviation_ns;
    }
  }
  told.count = static_cast<std::uint32_t>(count);
  std::ranges::sort(std::span(told.of).first(count), {}, &SweetSpot::events);
  return told;
}

namespace {
constexpr const char* known_name = "/spots-known";
constexpr const char* found_name = "/spots-found";
constexpr std::size_t max_lines = 10'000;
}  // namespace

std::vector<format::SweetSpot> read_known_spots(const std::string& directory, TreeSize tree) {
  std::vector<format::SweetSpot> spots;
  std::ifstream file(directory + known_name);
  std::string line;
  for (std::size_t count = 0; count < max_lines && std::getline(file, line); ++count) {
    std::istringstream words(line);
    TreeSize of;
    format::SweetSpot spot;
    words >> of.ranks >> of.nodes >> spot.events >> spot.is_bound >> spot.boi_ns >> spot.boi_spread_ns >>
        spot.rest_ns >> spot.rest_deviation_ns >> spot.direct_ns;
    const bool makes_sense = !words.fail() && std::isfinite(spot.boi_ns) && spot.boi_ns > 0 && spot.events > 0;
    if (makes_sense && of == tree) spots.push_back(spot);
  }
  return spots;
}

void keep_found_spot(const std::string& directory, TreeSize tree, const format::SweetSpot& spot) {
  std::array<char, 256> line{};
  const int length = std::snprintf(line.data(), line.size(), "%u %u %u %u %.0f %.0f %.0f %.0f %.0f\n", tree.ranks,
                                   tree.nodes, spot.events, spot.is_bound, spot.boi_ns, spot.boi_spread_ns,
                                   spot.rest_ns, spot.rest_deviation_ns, spot.direct_ns);
  append_to_file(directory + found_name,
                 std::string_view(line.data(), static_cast<std::size_t>(length)));  // an incomplete line is ignored
}

}  // namespace tare::tared
