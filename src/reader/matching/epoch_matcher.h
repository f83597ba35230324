// Finds what the epochs of one-sided accesses make ranks wait for. matcher.h states the rules.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "format/function_meaning.h"
#include "reader/events/event_stream.h"
#include "reader/matching/message.h"
#include "reader/matching/trace_gaps.h"
#include "reader/model/by_rank.h"
#include "reader/run/run.h"

namespace tare::reader {

// Holds the last call of each rank on each window. Rows come in the order of time, so whoever waits for a call is in
// its own last call when that one begins. Not thread-safe.
class EpochMatcher {
 public:
  // Ends are appended to the vector. All arguments must outlive the object.
  EpochMatcher(Run& run, const TraceGaps& gaps, std::vector<End>& ends) : run_(run), gaps_(gaps), ends_(ends) {}

  // To be called with all calls of MPI of ranks without gaps. `epoch`: see Channel::epoch.
  void add(const EventRow& row, const PartCall& call, std::uint32_t epoch);

 private:
  using Step = format::EpochStep;
  struct Lock {
    std::int32_t target;  // everybody: all ranks
    bool is_exclusive, is_held = true, has_accesses = false;
  };
  // A rank, and what it does with a window.
  struct Place {
    std::uint32_t epoch = 0;
    PartCall last;  // its last call on the window; of MPI_Win_test, the first in a row
    std::int32_t last_target = everybody;
    Step last_step = Step::none;
    std::int64_t waits_since_ns = 0;   // if it is of Step::waits
    std::int64_t accessed_ns = 0;      // end of the last access of its access epoch
    const Members* targets = nullptr;  // of its access epoch
    std::vector<Lock> locks;           // that it holds, or has given back with `last`
  };
  // How many epochs of a window there were between two ranks.
  struct Pair {
    std::uint64_t posted = 0, started = 0;
  };
  // A call that needs a rank, and may wait until that is in a call itself.
  struct Needing {
    std::int32_t rank, communicator;
    PartCall call;
  };
  struct Target {
    std::int64_t left_ns = INT64_MIN;  // its last call
    std::vector<Needing> needing;
  };
  static constexpr std::int32_t everybody = -1;

  struct Window {
    std::map<std::int32_t, Place> places;                  // by rank
    std::set<std::int32_t> shared_locks, exclusive_locks;  // ranks that may have some
  };

  Place& place_of(std::int32_t scope, std::int32_t rank) { return windows_[scope].places[rank]; }
  Pair& pair(const EventRow& row, std::int32_t origin, std::int32_t target, std::uint32_t epoch) {
    return pairs_[{row.scope, origin, target, epoch}];
  }
  const Members* group_of(const EventRow& row) const;
  void progress(const EventRow& row, const PartCall& call);
  void need(const EventRow& row, const PartCall& call, std::int32_t target);
  void post(const EventRow& row, const PartCall& call, std::uint32_t epoch);
  void complete(const EventRow& row, const PartCall& call, Place& own);
  void unlock(const EventRow& row, const PartCall& call, const Lock& given_back);
  // `waiting` waits in its call `last` for the call of `row`.
  void add_end(End::Kind kind, const EventRow& row, std::int32_t communicator, const PartCall& call,
               std::int32_t waiting, const PartCall& last);

  Run& run_;
  const TraceGaps& gaps_;
  std::vector<End>& ends_;
  std::map<std::int32_t, Window> windows_;  // by scope
  std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t, std::uint32_t>, Pair> pairs_;
  ByRank<Target> targets_;
};

}  // namespace tare::reader
