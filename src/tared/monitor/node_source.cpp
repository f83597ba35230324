#include "tared/monitor/node_source.h"

#include <algorithm>
#include <optional>

#include "format/sweet_spot.h"
#include "monitor/cadence.h"
#include "recorder/node_words.h"
#include "tared/monitor/chosen.h"

namespace tare::tared {

void NodeSource::look() {
  processes_.look([this](std::unique_ptr<RankSource> gone) {
    if (gone->has_more()) ended_.push_back(std::move(gone));
  });
  for (const auto& [path, source] : processes_.segments()) {
    source->look();
    source->choose(chosen_from_, chosen_);
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
  recorder::node_words->cadence.store(monitor::Cadence::word(point_of(pace.from_round), every_),
                                      std::memory_order_release);
}

// A decision about a point of the earlier program must not apply to the same point of this one.
void NodeSource::begin_at(std::uint64_t round) {
  first_of_program_ = round;
  if (interval_ns_ == 0 && every_ != 0)
    recorder::node_words->cadence.store(monitor::Cadence::word(0, every_), std::memory_order_release);
}

void NodeSource::command(std::span<const std::byte> bytes) {
  if (const auto command = decode_command(bytes)) std::visit([this](const auto& what) { obey(what); }, *command);
}

void NodeSource::obey(const format::SweetSpots& spots) { recorder::node_words->sweet_spots.publish(spots); }

void NodeSource::obey(const format::ControlMessage& message) {
  if (message.number <= controls_.last) return;
  controls_.last = message.number;
  format::ControlMessage& place = controls_.of[message.number % format::ControlMessages::most];
  place = message;
  place.from_point = point_of(message.from_point);
  recorder::node_words->controls.publish(controls_);
  recorder::node_words->last_control.store(message.number, std::memory_order_release);
}

void NodeSource::obey(const ChosenFrom& chosen) {
  chosen_ =
      std::make_shared<const Chosen>(Chosen{ChosenEvents(value_of(chosen.text, "only", "")), ChosenSites(chosen.text)});
  chosen_from_ = chosen.from_round;
  for (const auto& [path, source] : processes_.segments()) source->choose(chosen_from_, chosen_);
  for (const auto& source : ended_) source->choose(chosen_from_, chosen_);
}

}  // namespace tare::tared
