// The interface between ranks and the tree: what a rank offloads, and what the tree returns.
//
// A round is one offload of all ranks, numbered from 0 in the order in which each rank makes them. A node of the tree
// takes the snapshots of its ranks from a SnapshotSource, reduces them with a filter (filter.h), and passes one packet
// for each round up. The root gives reduced rounds to a RoundSink.
//
// Threading: a node calls its source and its sink from one thread. Lifetimes: spans and views are valid until the call
// that they were passed to returns. Nothing here throws deliberately.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tared/filters/rank_set.h"

namespace tare::tared {

// Identifies an event: a hash of its text, equal on all ranks. The name is sent once.
using EventKey = std::uint64_t;

// FNV-1a of 64 bits (Fowler, Noll, Vo), and the finaliser of MurmurHash3, as names differ mostly at their ends.
constexpr EventKey event_key(std::string_view identity) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : identity) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  hash = (hash ^ (hash >> 33U)) * 0xff51afd7ed558ccdU;
  hash = (hash ^ (hash >> 33U)) * 0xc4ceb9fe1a85ec53U;
  return hash ^ (hash >> 33U);
}

struct EventName {
  EventKey key;
  std::string text;       // its identity: "MPI_Send", "region solve", "counter residual"
  std::string unit = {};  // of a counter
};

// The sums of one event on one rank, since the program began.
struct Metrics {
  double calls;
  double time_ns;
  double bytes;
};
constexpr std::size_t metric_count = sizeof(Metrics) / sizeof(double);

// The snapshot of one rank in one round.
struct Snapshot {
  std::uint64_t round;
  std::uint32_t rank;               // in MPI_COMM_WORLD
  std::int64_t offloaded_ns;        // when the offload began: CLOCK_REALTIME, since the epoch
  std::span<const EventKey> keys;   // ascending, each once
  std::span<const Metrics> values;  // of each key
  std::uint64_t dropped = 0;        // snapshots since the one before for which the rank had no room
};

// How often ranks offload, from a round on that none of them has reached. The decision is the same on all ranks.
struct Pace {
  std::uint64_t from_round;
  std::int64_t interval_ns;  // for points of the program: an estimate
  std::uint64_t every;       // every so many points are an offload
};

class SnapshotTaker {
 public:
  virtual ~SnapshotTaker() = default;
  // Each name once for each source, before or with the first snapshot that has its key.
  virtual void name(const EventName& name) = 0;
  // Whether there is room for the next snapshot of a rank. If not, it must stay in the rank's buffer. So nothing is
  // lost on the way, and the rank's own policy applies when that buffer is full.
  virtual bool wants(std::uint32_t /*rank*/) { return true; }
  // Rounds of one rank must ascend. A round that is left out is lost.
  virtual void snapshot(const Snapshot& snapshot) = 0;
};

class SnapshotSource {
 public:
  virtual ~SnapshotSource() = default;
  // The ranks that it serves now. The set changes as ranks start and end.
  virtual RankSet ranks() = 0;
  // The number of ranks of the program on all nodes; 0: not known.
  virtual std::uint32_t world() const { return 0; }
  // Called before the first poll, and before another program, whose rounds are counted from this one on.
  virtual void begin_at(std::uint64_t /*round*/) {}
  // Passes what ranks have offloaded to `taker`, and frees its room. Bounded by the size of the ranks' buffers. Returns
  // the number of snapshots.
  virtual std::size_t poll(SnapshotTaker& taker) = 0;
  // Becomes readable when poll() has something to do; -1: poll() must be called periodically.
  virtual int wakeup_fd() const { return -1; }
  // All ranks change to it at the same round.
  virtual void set_pace(const Pace& /*pace*/) {}
  // Bytes that the owner of the root has sent to all sources (at most max_command_bytes).
  virtual void command(std::span<const std::byte> /*command*/) {}
};
constexpr std::size_t max_command_bytes = 4096;

// The cost of reducing a round, summed over the nodes that took part.
struct RoundCost {
  std::uint64_t reduce_ns = 0;  // merging: T_R of Nataraj et al. (2008) is reduce_ns / reductions
  std::uint64_t packet_ns = 0;  // encoding and decoding: T_P is packet_ns / packets
  std::uint32_t reductions = 0;
  std::uint32_t packets = 0;
};

// A round at the root. Times are of the root's clock, since the epoch.
struct Round {
  std::uint64_t round = 0;
  RankSet ranks;                      // ranks whose snapshots it contains
  RankSet lost;                       // ranks of the tree whose snapshots are missing
  std::int64_t first_offload_ns = 0;  // the earliest and the latest of the ranks in it
  std::int64_t last_offload_ns = 0;
  std::int64_t arrived_ns = 0;      // when the last part of it had arrived at the root
  std::int64_t clock_error_ns = 0;  // the uncertainty of the offload times; 0 on one node
  RoundCost cost;
  // Snapshots of these ranks since the last ones that came: those for which a rank had no room, and those that the tree
  // brought too late. A rank that did not come to its point has none.
  std::uint64_t dropped = 0;
  std::string_view filter;             // its specification, as given to make_filter()
  std::span<const std::byte> reduced;  // the result of the filter; its header gives the format

  // The one-way delay of Nataraj et al.: from the earliest offload to the arrival.
  std::int64_t delay_ns() const { return arrived_ns - first_offload_ns; }
  bool is_whole() const { return lost.empty(); }
};

class RoundSink {
 public:
  virtual ~RoundSink() = default;
  virtual void name(EventKey key, std::string_view text) = 0;  // each key once
  virtual void round(const Round& round) = 0;                  // in ascending order
  // A round without a result, because too many children of some node failed. It contains no ranks.
  virtual void lost_round(std::uint64_t round, const RankSet& lost) = 0;
};

}  // namespace tare::tared
