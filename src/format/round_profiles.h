// The result of the filter "none": all snapshots of a round, by rank.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "format/round.h"

namespace tare::format {

struct CollectedSnapshot {
  std::int64_t offloaded_ns = 0;  // by the clock of the rank's node
  std::vector<EventKey> keys;     // ascending
  std::vector<Metrics> values;
};

struct Collection {
  std::map<std::uint32_t, CollectedSnapshot> ranks;
  void write(Writer& out) const;
  static bool read(Reader& in, Collection& collection);
};

}  // namespace tare::format
