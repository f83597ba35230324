// The filter "none": all snapshots of a round, by rank. The traffic of a link grows with the ranks below it.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "tared/filters/filter.h"

namespace tare::tared {

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

class CollectingReduction : public Reduction {
 public:
  void add(const Snapshot& snapshot) override;
  bool unpack(std::span<const std::byte> reduced) override;
  bool unite() override;
  void write(Writer& out) const override { collection_.write(out); }
  void clear() override { collection_.ranks.clear(); }
  const Collection& collection() const { return collection_; }

 private:
  Collection collection_;
  Collection other_;  // being merged
};

class CollectingFilter : public Filter {
 public:
  std::unique_ptr<Reduction> begin() const override { return std::make_unique<CollectingReduction>(); }
};

}  // namespace tare::tared
