// The filter "groups": the ranks in a few groups with similar behaviour, by their times in all events.
//
// A rank is a point, whose coordinates are its times in the events. Groups are merged agglomeratively by Ward's
// criterion (Ward: Hierarchical grouping to optimize an objective function, 1963): always the two whose union increases
// the squared distances from the mean least. On the way up, groups are clustering features as in BIRCH (Zhang,
// Ramakrishnan, Livny, 1996): count, mean and sum of squared distances. A node sends up to `spare` times as many groups
// as are wanted, so that a rank is rarely put into a wrong group. Groups whose distance exceeds their width are found
// exactly, in any tree. At the root, settle() leaves the wanted number, or fewer if groups are similar.
#pragma once

#include <cstdint>

#include "format/round_groups.h"
#include "tared/filters/filter.h"

namespace tare::tared {

using format::GroupTable;
using format::RankGroup;

// Merges until there are `most` groups, and further while two are closer than `alike` times the distance of their
// middle from 0. Groups are sorted by their lowest rank.
void settle(GroupTable& table, std::uint32_t most, double alike);

class GroupReduction : public TableReduction<GroupTable> {
 public:
  static constexpr std::uint32_t default_groups = 8;
  static constexpr double alike = 0.05;
  explicit GroupReduction(std::uint32_t wanted) { table_.wanted = wanted; }
  void add(const Snapshot& snapshot) override;
  bool unpack(std::span<const std::byte> reduced) override;
  bool unite() override;
  void conclude() override;
  void clear() override;

 private:
  void make_room_for(std::span<const EventKey> keys);
  void settle_if_many();
};
using GroupFilter = FilterOf<GroupReduction, std::uint32_t>;

}  // namespace tare::tared
