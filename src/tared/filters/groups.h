// The filter "groups": the ranks in a few groups that behave alike, by their times in all events.
//
// A rank is a point: its time in each event. Groups are merged agglomeratively by Ward's criterion (Ward: Hierarchical
// grouping to optimize an objective function, 1963): always the two whose union adds least to the squared distances
// from the mean. On the way up, groups are clustering features in the sense of BIRCH (Zhang, Ramakrishnan, Livny,
// 1996): count, mean and sum of squared distances. A node sends up at most `spare` times as many as are wanted, so a
// rank that one node puts with the wrong others is the exception; groups that are further apart than they are wide are
// found exactly, in any tree. At the root, settle() leaves the wanted number, and fewer where groups are alike.
#pragma once

#include <cstdint>
#include <vector>

#include "tared/filters/filter.h"

namespace tare::tared {

struct RankGroup {
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

// Merges down to `most` groups, and on while two are closer than `alike` times the distance of their middle from 0.
// Groups are sorted by their lowest rank.
void settle(GroupTable& table, std::uint32_t most, double alike);

class GroupReduction : public Reduction {
 public:
  explicit GroupReduction(std::uint32_t wanted) { table_.wanted = wanted; }
  void add(const Snapshot& snapshot) override;
  bool unpack(std::span<const std::byte> reduced) override;
  bool unite() override;
  void conclude() override;
  void write(Writer& out) const override { table_.write(out); }
  void clear() override;
  const GroupTable& table() const { return table_; }

 private:
  void make_room_for(std::span<const EventKey> keys);
  void settle_if_many();

  GroupTable table_;
  GroupTable other_;  // being merged
  std::vector<std::uint32_t> place_;
};

class GroupFilter : public Filter {
 public:
  static constexpr std::uint32_t default_groups = 8;
  static constexpr double alike = 0.05;
  explicit GroupFilter(std::uint32_t wanted = default_groups) : wanted_(wanted) {}
  std::unique_ptr<Reduction> begin() const override { return std::make_unique<GroupReduction>(wanted_); }

 private:
  std::uint32_t wanted_;
};

}  // namespace tare::tared
