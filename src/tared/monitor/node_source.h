// The ranks of this node as a source of snapshots: the rings in the segments of a run's processes.
#pragma once

#include <cstdint>

#include "tared/filters/snapshot.h"
#include "tared/monitor/rank_source.h"
#include "tared/processes.h"

namespace tare::tared {

class NodeSource : public SnapshotSource {
 public:
  // `interval_ns`: between points that the clock makes; 0: the program makes them, and set_pace() has no effect.
  NodeSource(const RunPlaces& places, std::uint64_t interval_ns) : processes_(places), interval_ns_(interval_ns) {}

  // Finds processes that have begun to record, and those that have ended. What the latter left comes with the next
  // poll.
  void look(SnapshotTaker& taker);
  bool any_alive() const { return processes_.any_alive(); }

  RankSet ranks() override;
  std::size_t poll(SnapshotTaker& taker) override;
  void set_pace(const Pace& pace) override;

 private:
  Processes<RankSource> processes_;
  std::uint64_t interval_ns_;
  std::uint64_t last_round_ = 0;
};

}  // namespace tare::tared
