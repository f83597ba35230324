#include "tared/monitor/node_source.h"

#include <algorithm>
#include <optional>

#include "monitor/cadence.h"
#include "recorder/node_words.h"

namespace tare::tared {

void NodeSource::look(SnapshotTaker& taker) {
  processes_.look([&](RankSource& ended) { ended.poll(taker, last_round_); });
  std::optional<std::uint64_t> first;
  for (const auto& [path, source] : processes_.segments())
    if (source->look() && source->first_round()) first = std::max(first.value_or(0), *source->first_round());
  // A program that is started when the one before has ended counts its points anew; the clock does not.
  if (!first) first = interval_ns_ == 0 ? last_round_ : 0;
  for (const auto& [path, source] : processes_.segments())
    if (!source->first_round()) source->begin_at(*first);
}

RankSet NodeSource::ranks() {
  RankSet found;
  for (const auto& [path, source] : processes_.segments())
    if (source->is_alive())
      if (const auto rank = source->rank()) found.insert(*rank);
  return found;
}

std::size_t NodeSource::poll(SnapshotTaker& taker) {
  std::size_t taken = 0;
  for (const auto& [path, source] : processes_.segments()) taken += source->poll(taker, last_round_);
  return taken;
}

void NodeSource::set_pace(const Pace& pace) {
  if (interval_ns_ == 0) return;
  const auto wanted = static_cast<std::uint64_t>(std::max<std::int64_t>(pace.interval_ns, 1));
  const std::uint64_t every = (wanted + interval_ns_ - 1) / interval_ns_;
  recorder::node_words->cadence.store(monitor::Cadence::word(pace.from_round, every), std::memory_order_release);
}

}  // namespace tare::tared
