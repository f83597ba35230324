#include "format/round_groups.h"

#include <cmath>

namespace tare::format {

void GroupTable::write(Writer& out) const {
  out.put(wanted);
  out.put(static_cast<std::uint32_t>(keys.size()));
  out.put(static_cast<std::uint32_t>(groups.size()));
  out.put_all(keys);
  for (const RankGroup& group : groups) {
    group.ranks.write(out);
    out.put(group.squares);
    out.put_all(group.mean_ns);
  }
}

bool GroupTable::read(Reader& in, GroupTable& table) {
  table.wanted = in.get<std::uint32_t>();
  const auto events = in.get<std::uint32_t>();
  const auto groups = in.get<std::uint32_t>();
  if (table.wanted == 0 || table.wanted > max_groups || events > max_events || groups > 2 * table.kept())
    return in.fail();
  if (!in.get_all(table.keys, events) || !are_ascending(table.keys)) return in.fail();
  table.groups.clear();
  RankSet all;
  for (std::uint32_t i = 0; i < groups; ++i) {
    RankGroup& group = table.groups.emplace_back();
    if (!RankSet::read(in, group.ranks) || group.ranks.empty() || all.overlaps(group.ranks)) return in.fail();
    all.unite(group.ranks);
    group.count = static_cast<double>(group.ranks.size());
    group.squares = in.get<double>();
    if (!in.get_all(group.mean_ns, events)) return false;
    if (!(group.squares >= 0)) return in.fail();
    for (const double mean : group.mean_ns)
      if (!(std::abs(mean) <= RankGroup::max_ns)) return in.fail();
  }
  return in.ok();
}

}  // namespace tare::format
