#include "format/round_profiles.h"

namespace tare::format {

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

}  // namespace tare::format
