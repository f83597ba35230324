// Keeps the interval between the rounds of a live tree at its sweet spot (`--monitor=auto`, `every=auto`).
//
// An interval is so many offload points, which the clock or the program makes (point_clock.h). The keeper is told of
// each round that arrives at the root, and says which points all ranks are to take, from which one on. It
//
//   rests      slows down until rounds do not wait for one another: the delay at rest (stop-and-go in the paper, which
//              is the same where each round has arrived before the next one begins)
//   searches   finds the BOI by the paper's search (boi_search.h), on the ranks' own rounds
//   keeps      twice the BOI, but no less than `least_ns`. Where rounds arrive more slowly than they are sent, or late,
//              the interval is doubled; when they come in time again, it is halved, step by step, back to there
//
// A step down that has to be taken back makes the next one come later. There is one decision at a time: the next one is
// made when all have come to the point from which on the last one holds (monitor/cadence.h).
//
// The BOI is searched anew where the interval was doubled and rounds then came in time, where their delay is no longer
// that at rest, and where profiles have grown. If it is what it was, the next search comes later.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "tared/boi/boi_search.h"
#include "tared/boi/point_clock.h"
#include "tared/boi/spot_book.h"
#include "tared/filters/snapshot.h"

namespace tare::tared {

class PaceKeeper {
 public:
  enum class State { rests, searches, keeps };
  PaceKeeper(PointClock points, std::int64_t least_ns);

  // A round as it arrives. Rounds ascend.
  void add(const Round& round);
  // Profiles have so many events from now on.
  void events(std::uint32_t events) { events_ = events; }
  // The next decision, if there is one by now (Unix time).
  std::optional<Pace> decide(std::int64_t now_ns);

  State state() const { return state_; }
  std::int64_t interval_ns() const;
  double boi_ns() const { return boi_ns_; }  // 0: not yet known
  // What the last search found; nothing if it was asked for already.
  std::optional<SpotBook::Found> take_found() { return std::exchange(found_, std::nullopt); }
  const Spread& rest() const { return rest_; }

 private:
  struct Arrival {
    std::uint64_t round;
    double offloaded_ns;  // since from_ns_
    double arrived_ns;
  };

  Pace change_to(double interval_ns, std::int64_t now_ns);
  Pace change_to_every(std::uint64_t every, std::int64_t now_ns);
  Burst burst(std::size_t count) const;
  bool is_overdue(std::size_t count, std::int64_t now_ns) const;
  std::optional<Pace> end_rest(std::int64_t now_ns);
  std::optional<Pace> go_on_searching(std::int64_t now_ns);
  Pace end_search(std::uint64_t every, bool is_bound, std::int64_t now_ns);
  std::optional<Pace> keep(std::int64_t now_ns);
  bool is_to_search_anew(double delay_ns, std::int64_t now_ns);
  double target_ns() const;
  std::uint64_t every_of(double interval_ns) const;

  PointClock points_;
  double least_ns_;
  State state_ = State::rests;
  bool begun_ = false;
  std::uint64_t every_ = 1;            // each so many points are an offload
  std::uint64_t from_ = 0;             // from here on
  std::int64_t from_ns_ = 0;           // and when that is
  std::int64_t longest_delay_ns_ = 0;  // lately
  std::int64_t since_ns_ = 0;          // arrivals have been waited for since then
  std::vector<Arrival> arrivals_;
  Spread rest_;
  std::optional<BoiSearch> search_;
  std::uint32_t tries_ = 0;    // at this interval of the search
  std::uint64_t taken_ = 0;    // the fewest points that were long enough in this search; 0: none were
  std::uint64_t refused_ = 0;  // the most that were too short
  double boi_ns_ = 0;
  std::optional<SpotBook::Found> found_;
  std::uint32_t good_ = 0;         // windows in a row
  std::uint32_t good_wanted_ = 1;  // before a step down
  bool stepped_down_ = false;      // by the last decision
  std::size_t left_behind_ = 0;    // rounds that come while what the search has left in the buffers does
  bool stepped_up_ = false;        // since the last search
  std::uint32_t events_ = 0;
  std::uint32_t searched_events_ = 0;  // when the last search ended
  std::int64_t searched_ns_ = 0;
  std::int64_t search_again_ns_ = 0;  // at the least so long after it
  std::uint32_t changed_ = 0;         // windows in a row that are no longer as the last search found them
};

}  // namespace tare::tared
