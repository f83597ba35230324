// Keeps the interval between the rounds of a running tree at its sweet spot: as short as the tree sustains
// (`--monitor=auto`, `every=auto`).
//
// An interval is a number of offload points, which the clock or the program makes (point_clock.h). The keeper gets each
// round that arrives at the root. It decides at which points all ranks offload, and from which point on. The keeper
//
//   rests      lengthens the interval until rounds do not wait for one another, and measures the delay at rest. (The
//              paper uses stop-and-go, which is the same if each round arrives before the next one begins.)
//   searches   finds the BOI by the paper's search (boi_search.h), with the ranks' own rounds
//   keeps      an interval of twice the BOI, or `min_ns` if that is longer. If rounds arrive more slowly than they
//              are sent, or late, or ranks have no room for them, the interval is doubled. When they come in time
//              again, it is halved, step by step, down to this interval
//
// A round in which a rank is missing counts as a loss only if the rank dropped its snapshot (Round::dropped). A rank
// that does not reach its offload point would not reach it at a longer interval either.
//
// If a step down has to be reversed soon, the next one comes later. Only one decision is under way: the next one is
// made when all ranks have passed the point at which the last one takes effect (monitor/cadence.h).
//
// The BOI is searched again if the interval was doubled and rounds then came in time, if the delay differs from that at
// rest, and if profiles have grown. If the result is the same as before, the next search comes later.
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
  PaceKeeper(PointClock points, std::int64_t min_ns);

  // A round that has arrived. Rounds must ascend.
  void add(const Round& round);
  // Sets the number of events of the profiles from now on.
  void events(std::uint32_t events) { events_ = events; }
  // The next decision, if one is due at this time (Unix time).
  std::optional<Pace> decide(std::int64_t now_ns);

  State state() const { return state_; }
  // Whether rounds have arrived in time at one interval for a second.
  bool is_settled() const;
  std::int64_t interval_ns() const;
  double boi_ns() const { return boi_ns_; }  // 0: not yet known
  // The result of the last search; nothing if it was returned already.
  std::optional<SpotBook::Found> take_found() { return std::exchange(found_, std::nullopt); }
  const Spread& rest() const { return rest_; }

 private:
  struct Arrival {
    std::uint64_t round;
    double offloaded_ns;  // since from_ns_
    double arrived_ns;
    std::uint64_t dropped;  // snapshots, before it
  };

  Pace change_to(double interval_ns, std::int64_t now_ns);
  Pace change_to_every(std::uint64_t every, std::int64_t now_ns);
  Burst burst(std::size_t count) const;
  std::uint64_t dropped(std::size_t count) const;
  bool is_overdue(std::size_t count, std::int64_t now_ns) const;
  std::optional<Pace> end_rest(std::int64_t now_ns);
  std::optional<Pace> go_on_searching(std::int64_t now_ns);
  Pace end_search(std::uint64_t every, bool is_bound, std::int64_t now_ns);
  std::optional<Pace> keep(std::int64_t now_ns);
  bool is_to_search_anew(double delay_ns, std::int64_t now_ns);
  double target_ns() const;
  std::uint64_t every_of(double interval_ns) const;

  PointClock points_;
  double min_ns_;
  State state_ = State::rests;
  bool begun_ = false;
  std::uint64_t every_ = 1;            // number of points from one offload to the next
  std::uint64_t from_ = 0;             // from this point on
  std::int64_t from_ns_ = 0;           // and the time of that point
  std::int64_t longest_delay_ns_ = 0;  // of the last rounds
  std::int64_t since_ns_ = 0;          // since when arrivals are waited for
  std::vector<Arrival> arrivals_;
  Spread rest_;
  std::optional<BoiSearch> search_;
  std::uint32_t tries_ = 0;    // at the current interval of the search
  std::uint64_t taken_ = 0;    // the least number of points that was long enough in this search; 0: none was
  std::uint64_t refused_ = 0;  // the greatest number that was too short
  double boi_ns_ = 0;
  std::optional<SpotBook::Found> found_;
  std::uint32_t good_ = 0;         // windows in a row
  std::uint32_t good_wanted_ = 1;  // needed for a step down, and as many seconds
  std::int64_t behind_ns_ = 0;     // when rounds were last late or dropped
  bool stepped_down_ = false;      // by the last decision, which may still have to be reversed
  std::size_t left_behind_ = 0;    // rounds to come while those of the interval before leave the buffers
  bool stepped_up_ = false;        // since the last search
  std::uint32_t events_ = 0;
  std::uint32_t searched_events_ = 0;  // at the end of the last search
  std::int64_t searched_ns_ = 0;
  std::int64_t search_again_ns_ = 0;  // the least time between searches
  std::uint32_t changed_ = 0;         // windows in a row that differ from what the last search found
};

}  // namespace tare::tared
