#include "tared/filters/collection.h"

#include <algorithm>

namespace tare::tared {

void CollectingReduction::add(const Snapshot& snapshot) {
  collection_.ranks[snapshot.rank] = {snapshot.offloaded_ns,
                                      {snapshot.keys.begin(), snapshot.keys.end()},
                                      {snapshot.values.begin(), snapshot.values.end()}};
}

bool CollectingReduction::unpack(std::span<const std::byte> reduced) {
  Reader in(reduced);
  if (!Collection::read(in, other_) || !in.at_end()) return false;
  return std::ranges::none_of(other_.ranks, [this](const auto& of) { return collection_.ranks.contains(of.first); });
}

bool CollectingReduction::unite() {
  collection_.ranks.merge(other_.ranks);
  return true;
}

}  // namespace tare::tared
