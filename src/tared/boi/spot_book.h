// Collects what the root of a tree knows about it, for each size of profiles: the results of searches in this run, the
// delay of the last rounds, and, for other sizes, results of earlier runs with such a tree. It is passed on to the
// ranks of all nodes (format/sweet_spot.h).
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
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
    bool is_bound;  // true: the BOI is at most boi_ns
    Spread rest;
  };

  // Sets earlier results for a tree like this one. Replaces those that were set before.
  void cached(std::vector<format::SweetSpot> spots);
  // Sets the number of events of the profiles from now on.
  void events(std::uint32_t events);
  // Adds the result of a search. If there is no room for another size, the oldest one is dropped.
  void found(const Found& found);
  // Adds a round that has arrived.
  void round(const Round& round);

  // Everything that is known, if it has changed since the last call that returned something. Results of a search are
  // returned at once, delays once a second. `now_ns` is of any monotonic clock.
  std::optional<format::SweetSpots> take_update(std::uint64_t now_ns);

  // The result of the last search; nothing before the first.
  std::optional<format::SweetSpot> last_found() const;

 private:
  static constexpr std::size_t most_of_this_run = 8;
  static constexpr std::size_t max_cached = format::SweetSpots::most - most_of_this_run;

  format::SweetSpot& spot();
  format::SweetSpots all() const;

  std::uint32_t events_ = 0;
  std::uint32_t found_events_ = 0;       // of the last search; 0: there was none
  std::deque<format::SweetSpot> spots_;  // in the order of their last changes
  std::deque<double> delays_ns_;         // of rounds of this size
  std::vector<format::SweetSpot> cached_;
  bool has_changed_ = false;
  bool has_round_ = false;
  std::uint64_t reported_ns_ = 0;
};

// The files by which results about monitoring trees get from one run to the next. `tare run` keeps the results
// (python/tare/measuring/sweet_spots.py). Before a run, it writes them to a file in the folder in which nodes meet.
// After the run, it reads the results of the root from another file there.
//
// Both are text files with a line for each tree and size of profiles:
//   ranks nodes events is_bound boi_ns boi_spread_ns rest_ns rest_deviation_ns direct_ns
// Values that are not known are negative.
struct TreeSize {
  std::uint32_t ranks = 0;
  std::uint32_t nodes = 0;
  bool operator==(const TreeSize&) const = default;
};

// Reads the results for trees of this size. Invalid lines are ignored. Empty if there is no file.
std::vector<format::SweetSpot> read_known_spots(const std::string& directory, TreeSize tree);
// Appends a result. Errors are ignored.
void keep_found_spot(const std::string& directory, TreeSize tree, const format::SweetSpot& spot);

}  // namespace tare::tared
