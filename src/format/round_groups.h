// The result of the filter "groups": the ranks in a few groups with similar behaviour, by their times in all events.
#pragma once

#include <cstdint>
#include <vector>

#include "format/round.h"

namespace tare::format {

struct RankGroup {
  static constexpr double max_ns = 1e19;  // greater times are invalid (three hundred years)

  RankSet ranks;
  double count = 0;
  double squares = 0;           // sum over ranks and events of the squared differences from the mean, ns^2
  std::vector<double> mean_ns;  // of each event; 0 where a rank does not have it
};

struct GroupTable {
  static constexpr std::uint32_t max_groups = 64;
  static constexpr std::uint32_t spare = 4;
  std::uint32_t kept() const { return spare * wanted; }

  std::uint32_t wanted = 0;
  std::vector<EventKey> keys;  // ascending
  std::vector<RankGroup> groups;
  void write(Writer& out) const;
  static bool read(Reader& in, GroupTable& table);
};

}  // namespace tare::format
