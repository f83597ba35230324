// The ranks of this node as a source of snapshots: the rings in the segments of a run's processes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "tared/filters/snapshot.h"
#include "tared/monitor/commands.h"
#include "tared/monitor/rank_source.h"
#include "tared/open_segment.h"

namespace tare::tared {

class NodeSource : public SnapshotSource {
 public:
  // `interval_ns`: between points that the clock makes; 0: the program makes them.
  // `events`, `sites`: what snapshots contain.
  NodeSource(const RunPlaces& places, std::uint64_t interval_ns, ChosenEvents events = ChosenEvents(),
             ChosenSites sites = ChosenSites())
      : processes_(places),
        interval_ns_(interval_ns),
        chosen_(std::make_shared<const Chosen>(Chosen{std::move(events), std::move(sites)})) {}

  // Finds processes that have begun to record or have ended. Snapshots of ended ones are taken by later polls.
  void look();
  bool any_alive() const { return processes_.any_alive(); }

  // The ranks that are alive or have left snapshots.
  RankSet ranks() override;
  std::uint32_t world() const override;
  void begin_at(std::uint64_t round) override;
  std::size_t poll(SnapshotTaker& taker) override;
  void set_pace(const Pace& pace) override;
  // Does what the root tells (commands.h): publishes what it knows about the tree, and messages of users, to the ranks
  // of this node; changes what snapshots contain.
  void command(std::span<const std::byte> command) override;

 private:
  void number_rounds();
  std::uint64_t rounds_before() const;
  std::uint64_t point_of(std::uint64_t round) const { return round - std::min(rounds_before(), round); }
  void obey(const format::SweetSpots& spots);
  void obey(const format::ControlMessage& message);
  void obey(const ChosenFrom& chosen);

  Processes<RankSource> processes_;
  std::vector<std::unique_ptr<RankSource>> ended_;  // whose rings are not empty yet
  std::uint64_t interval_ns_;
  std::shared_ptr<const Chosen> chosen_;  // the last decision
  std::uint64_t chosen_from_ = 0;         // a round
  format::ControlMessages controls_;
  std::uint64_t last_round_ = 0;
  std::uint64_t first_of_program_ = 0;
  std::uint64_t every_ = 0;  // of the last pace; 0: there was none
};

}  // namespace tare::tared
