#include "tared/monitor/node_source.h"

#include <algorithm>
#include <optional>

#include "format/sweet_spot.h"
#include "monitor/cadence.h"
#include "recorder/node_words.h"
#include "tared/filters/bytes.h"

namespace tare::tared {

void NodeSource::look() {
  processes_.look([this](std::unique_ptr<RankSource> gone) {
    if (gone->has_more()) ended_.push_back(std::move(gone));
  });
  for (const auto& [path, source] : processes_.segments()) {
    source->look();
    source->choose(events_, sites_);
  }
}

// A program that starts after another has ended counts its points from 1. Points of the clock go on.
void NodeSource::number_rounds() {
  std::optional<std::uint64_t> first;
  for (const auto& [path, source] : processes_.segments())
    if (source->is_alive() && source->first_round()) first = std::max(first.value_or(0), *source->first_round());
  const std::uint64_t before = first_of_program_ == 0 ? 0 : first_of_program_ - 1;
  if (!first) first = interval_ns_ == 0 ? std::max(last_round_, before) : 0;
  for (const auto& [path, source] : processes_.segments())
    if (!source->first_round()) source->begin_at(*first);
  for (const auto& source : ended_)
    if (!source->first_round()) source->begin_at(*first);
}

RankSet NodeSource::ranks() {
  RankSet found;
  const auto add = [&found](const RankSource& source) {
    if (!source.is_alive() && !source.has_more()) return;
    if (const auto rank = source.rank()) found.insert(*rank);
  };
  for (const auto& [path, source] : processes_.segments()) add(*source);
  for (const auto& source : ended_)
    if (source->has_more()) add(*source);
  return found;
}

std::uint32_t NodeSource::world() const {
  std::uint32_t most = 0;
  for (const auto& [path, source] : processes_.segments())
    if (source->is_alive() || source->has_more()) most = std::max(most, source->world());
  return most;
}

std::size_t NodeSource::poll(SnapshotTaker& taker) {
  number_rounds();
  std::size_t taken = 0;
  for (const auto& [path, source] : processes_.segments()) taken += source->poll(taker, last_round_);
  for (const auto& source : ended_) taken += source->poll(taker, last_round_);
  std::erase_if(ended_, [](const auto& source) { return !source->has_more(); });
  return taken;
}

// The rounds of earlier programs, if each program counts its own points.
std::uint64_t NodeSource::rounds_before() const {
  std::uint64_t before = 0;
  if (interval_ns_ != 0) return before;
  for (const auto& [path, source] : processes_.segments())
    if (source->is_alive()) before = std::max(before, source->first_round().value_or(0));
  return before;
}

void NodeSource::set_pace(const Pace& pace) {
  every_ = std::max<std::uint64_t>(pace.every, 1);
  const std::uint64_t from = pace.from_round - std::min(rounds_before(), pace.from_round);
  recorder::node_words->cadence.store(monitor::Cadence::word(from, every_), std::memory_order_release);
}

// A decision about a point of the earlier program must not apply to the same point of this one.
void NodeSource::begin_at(std::uint64_t round) {
  first_of_program_ = round;
  if (interval_ns_ == 0 && every_ != 0)
    recorder::node_words->cadence.store(monitor::Cadence::word(0, every_), std::memory_order_release);
}

void NodeSource::command(std::span<const std::byte> command) {
  Reader in(command);
  const auto spots = in.get<format::SweetSpots>();
  if (in.ok() && in.at_end()) recorder::node_words->sweet_spots.publish(spots);
}

}  // namespace tare::tared
