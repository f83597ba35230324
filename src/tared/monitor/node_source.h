// The ranks of this node as a source of snapshots: the rings in the segments of a run's processes.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "tared/filters/snapshot.h"
#include "tared/monitor/rank_source.h"
#include "tared/processes.h"

namespace tare::tared {

class NodeSource : public SnapshotSource {
 public:
  // `interval_ns`: between points that the clock makes; 0: the program makes them, and set_pace() has no effect.
  // `chosen`: the events that are handed over.
  NodeSource(const RunPlaces& places, std::uint64_t interval_ns, ChosenEvents chosen = ChosenEvents())
      : processes_(places), interval_ns_(interval_ns), chosen_(std::move(chosen)) {}

  // Finds processes that have begun to record, and those that have ended. What the latter left comes with later polls.
  void look();
  bool any_alive() const { return processes_.any_alive(); }

  // Those that live, or have left something.
  RankSet ranks() override;
  std::uint32_t world() const override;
  void begin_at(std::uint64_t round) override { first_of_program_ = round; }
  std::size_t poll(SnapshotTaker& taker) override;
  void set_pace(const Pace& pace) override;

 private:
  void number_rounds();

  Processes<RankSource> processes_;
  std::vector<std::unique_ptr<RankSource>> ended_;  // whose rings are not empty yet
  std::uint64_t interval_ns_;
  ChosenEvents chosen_;
  std::uint64_t last_round_ = 0;
  std::uint64_t first_of_program_ = 0;
};

}  // namespace tare::tared
