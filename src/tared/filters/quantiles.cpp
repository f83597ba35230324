#include "tared/filters/quantiles.h"

#include "tared/filters/key_union.h"

namespace tare::tared {

void QuantileReduction::clear() {
  table_.keys.clear();
  table_.sketches.clear();
}

void QuantileReduction::add(const Snapshot& snapshot) {
  make_room(table_.keys, table_.sketches, snapshot.keys, place_, metric_count);
  for (std::size_t i = 0; i < snapshot.keys.size(); ++i) {
    QuantileSketch* of = &table_.sketches[place_[i] * metric_count];
    of[0].add(snapshot.values[i].calls, table_.error);
    of[1].add(snapshot.values[i].time_ns, table_.error);
    of[2].add(snapshot.values[i].bytes, table_.error);
  }
}

bool QuantileReduction::unpack(std::span<const std::byte> reduced) {
  Reader in(reduced);
  return QuantileTable::read(in, other_) && in.at_end() && other_.error == table_.error;
}

bool QuantileReduction::unite() {
  make_room(table_.keys, table_.sketches, other_.keys, place_, metric_count);
  for (std::size_t i = 0; i < other_.sketches.size(); ++i)
    table_.sketches[place_[i / metric_count] * metric_count + i % metric_count].merge(other_.sketches[i]);
  return true;
}

}  // namespace tare::tared
