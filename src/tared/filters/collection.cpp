#include "tared/filters/collection.h"

#include <algorithm>

#include "tared/filters/key_union.h"

namespace tare::tared {

void Collection::write(Writer& out) const {
  out.put(static_cast<std::uint32_t>(ranks.size()));
  for (const auto& [rank, snapshot] : ranks) {
    out.put(rank);
    out.put(static_cast<std::uint32_t>(snapshot.keys.size()));
    out.put(snapshot.offloaded_ns);
    out.put_all(snapshot.keys);
    out.put_all(snapshot.values);
  }
}

bool Collection::read(Reader& in, Collection& collection) {
  collection.ranks.clear();
  for (auto count = in.get<std::uint32_t>(); count > 0 && in.ok(); --count) {
    const auto rank = in.get<std::uint32_t>();
    const auto events = in.get<std::uint32_t>();
    if (!in.ok() || events > max_events) return in.fail();
    const auto [place, is_new] = collection.ranks.try_emplace(rank);
    CollectedSnapshot& snapshot = place->second;
    snapshot.offloaded_ns = in.get<std::int64_t>();
    if (!is_new || !in.get_all(snapshot.keys, events) || !in.get_all(snapshot.values, events)) return in.fail();
    if (!are_ascending(snapshot.keys)) return in.fail();
  }
  return in.ok();
}

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
