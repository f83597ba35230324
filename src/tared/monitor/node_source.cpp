#include "tared/monitor/node_source.h"

#include <algorithm>
#include <optional>

#include "monitor/cadence.h"
#include "recorder/node_words.h"

namespace tare::tared {

void NodeSource::look() {
  processes_.look([this](std::unique_ptr<RankSource> gone) {
    if (gone->has_more()) ended_.push_back(std::move(gone));
  });
  for (const auto& [path, source] : processes_.segments()) {
    source->look();
    source->choose(chosen_);
  }
}

// A program that is started when the one before has ended counts its points anew; the clock does not.
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

void NodeSource::set_pace(const Pace& pace) {
  if (interval_ns_ == 0) return;
  const auto wanted = static_cast<std::uint64_t>(std::max<std::int64_t>(pace.interval_ns, 1));
  const std::uint64_t every = (wanted + interval_ns_ - 1) / interval_ns_;
  recorder::node_words->cadence.store(monitor::Cadence::word(pace.from_round, every), std::memory_order_release);
}

}  // namespace tare::tared
