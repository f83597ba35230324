// Keeps the interval between the rounds of a live tree at its sweet spot (`--monitor=auto`).
//
// Points of the clock come each `point_ns`; an interval is so many points. The keeper is told of each round that
// arrives at the root, and says which interval all ranks are to have, from which point on. It
//
//   rests      slows down until rounds do not wait for one another: the delay at rest (stop-and-go in the paper, which
//              is the same where each round has arrived before the next one begins)
//   searches   finds the BOI by the paper's search (boi_search.h), on the ranks' own rounds
//   keeps      twice the BOI, but no less than `least_ns`. Where rounds arrive more slowly than they are sent, or late,
//              the interval is doubled; when they come in time again, it is halved, step by step, back to there
//
// A step down that has to be taken back makes the next one come later. There is one decision at a time: the next one is
// made when all have come to the point from which on the last one holds (monitor/cadence.h).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tared/boi/boi_search.h"
#include "tared/filters/snapshot.h"

namespace tare::tared {

class PaceKeeper {
 public:
  enum class State { rests, searches, keeps };
  // `epoch_ns`: Unix time of point 0.
  PaceKeeper(std::int64_t point_ns, std::int64_t epoch_ns, std::int64_t least_ns);

  // A round as it arrives. Rounds ascend.
  void add(const Round& round);
  // The next decision, if there is one by now (Unix time).
  std::optional<Pace> decide(std::int64_t now_ns);

  State state() const { return state_; }
  std::int64_t interval_ns() const { return interval_ns_; }
  double boi_ns() const { return boi_ns_; }  // 0: not yet known
  const Spread& rest() const { return rest_; }

 private:
  Pace change_to(double interval_ns, std::int64_t now_ns);
  Burst burst(std::size_t count) const;
  bool is_overdue(std::size_t count, std::int64_t now_ns) const;
  std::optional<Pace> end_rest(std::int64_t now_ns);
  std::optional<Pace> go_on_searching(std::int64_t now_ns);
  std::optional<Pace> keep(std::int64_t now_ns);
  double target_ns() const;

  std::int64_t point_ns_;
  std::int64_t epoch_ns_;
  std::int64_t least_ns_;
  State state_ = State::rests;
  bool begun_ = false;
  std::int64_t interval_ns_;
  std::uint64_t from_ = 0;             // rounds from here on have this interval
  std::int64_t from_ns_ = 0;           // and when that begins
  std::int64_t longest_delay_ns_ = 0;  // lately
  std::vector<double> delays_ns_;      // of the rounds since `from_`
  std::vector<double> arrivals_ns_;
  Spread rest_;
  std::optional<BoiSearch> search_;
  std::uint32_t tries_ = 0;  // at this interval of the search
  double boi_ns_ = 0;
  std::uint32_t good_ = 0;         // windows in a row
  std::uint32_t good_wanted_ = 1;  // before a step down
  bool stepped_down_ = false;      // by the last decision
};

}  // namespace tare::tared
