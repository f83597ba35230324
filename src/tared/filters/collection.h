// The filter "none": all snapshots of a round, by rank. The traffic of a link grows with the ranks below it.
#pragma once

#include "format/round_profiles.h"
#include "tared/filters/filter.h"

namespace tare::tared {

using format::CollectedSnapshot;
using format::Collection;

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
