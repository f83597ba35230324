// What the root of a tree knows of it by the size of profiles, for the ranks of all nodes (format/sweet_spot.h): what
// the searches of this run have found, and the delay of the last rounds; of other sizes what was found before on such a
// tree.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "format/sweet_spot.h"
#include "tared/boi/boi_search.h"
#include "tared/filters/snapshot.h"

namespace tare::tared {

class SpotBook {
 public:
  struct Found {
    double boi_ns;
    double spread_ns;
    bool is_bound;  // the BOI is that or less
    Spread rest;
  };

  // What is known from before of a tree like this one; instead of what was said last.
  void cached(std::vector<format::SweetSpot> spots);
  // Profiles have so many events from now on.
  void events(std::uint32_t events);
  // A search has ended. Of sizes beyond those that there is room for, the oldest is forgotten.
  void found(const Found& found);
  // A round as it arrives.
  void round(const Round& round);

  // All that is known, if it has changed since this function returned it last. The result of a search is returned at
  // once, delays once a second. `now_ns` is of any monotonic clock.
  std::optional<format::SweetSpots> take_update(std::uint64_t now_ns);

  // What the last search has found; nothing before the first.
  std::optional<format::SweetSpot> last_found() const;

 private:
  static constexpr std::size_t most_of_this_run = 8;
  static constexpr std::size_t most_cached = format::SweetSpots::most - most_of_this_run;

  format::SweetSpot& spot();
  format::SweetSpots all() const;

  std::uint32_t events_ = 0;
  std::uint32_t found_events_ = 0;       // of the last search; 0: there was none
  std::deque<format::SweetSpot> spots_;  // the one that was changed last is the last
  std::deque<double> delays_ns_;         // of rounds of this size
  std::vector<format::SweetSpot> cached_;
  bool has_changed_ = false;
  bool has_round_ = false;
  std::uint64_t told_ns_ = 0;
};

}  // namespace tare::tared
