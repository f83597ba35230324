#include "tared/filters/histogram.h"

#include <algorithm>

#include "tared/filters/key_union.h"

namespace tare::tared {

void OpenHistograms::write(Writer& out) const {
  out.put(bins);
  out.put(static_cast<std::uint32_t>(keys.size()));
  out.put_all(keys);
  for (std::size_t i = 0; i < histograms.size(); ++i) histograms[i].write(out, counts_of(i));
}

void HistogramReduction::clear() {
  table_.keys.clear();
  table_.histograms.clear();
  table_.counts.clear();
}

void HistogramReduction::make_room_for(std::span<const EventKey> keys) {
  if (std::ranges::equal(keys, table_.keys) && place_.size() == keys.size()) return;
  std::vector<EventKey> all = unite_keys(table_.keys, keys);
  if (all.size() != table_.keys.size()) {
    find_places(table_.keys, all, place_);
    spread(table_.histograms, place_, all.size(), table_.metrics, Histogram{});
    spread(table_.counts, place_, all.size(), table_.metrics * table_.bins, 0U);
    table_.keys = std::move(all);
  }
  find_places(keys, table_.keys, place_);
}

void HistogramReduction::add(const Snapshot& snapshot) {
  make_room_for(snapshot.keys);
  for (std::size_t i = 0; i < snapshot.keys.size(); ++i) {
    const Metrics& values = snapshot.values[i];
    const std::size_t at = place_[i] * table_.metrics;
    if (table_.metrics == 1) {
      add(at, values.time_ns == 0 ? values.bytes : values.time_ns);
      continue;
    }
    add(at, values.calls);
    add(at + 1, values.time_ns);
    add(at + 2, values.bytes);
  }
}

bool HistogramReduction::unpack(std::span<const std::byte> reduced) {
  Reader in(reduced);
  return HistogramTable::read(in, other_, table_.metrics) && in.at_end() && other_.bins == table_.bins;
}

bool HistogramReduction::unite() {
  make_room_for(other_.keys);
  auto its_counts = std::span<const std::uint32_t>(other_.counts);
  for (std::size_t i = 0; i < other_.histograms.size(); ++i) {
    const std::size_t at = place_[i / table_.metrics] * table_.metrics + i % table_.metrics;
    table_.histograms[at].merge(other_.histograms[i], its_counts, table_.counts_of(at));
    its_counts = its_counts.subspan(other_.histograms[i].size());
  }
  return true;
}

}  // namespace tare::tared
