// Where the ranks' side of monitoring and the tree meet: what a rank hands over, what the tree gives back.
//
// A round is one offload of all ranks, numbered from 0 in the order in which each rank makes them. A node of the tree
// polls a SnapshotSource for the snapshots of its ranks, reduces them with a filter (filter.h), and passes one packet
// for each round up. The root gives reduced rounds to a RoundSink.
//
// Threading: a node calls its source and its sink from one thread. Lifetimes: what a span or a view shows lives until
// the call that was given it returns. Nothing here throws on purpose.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tared/filters/rank_set.h"

namespace tare::tared {

// Of an event: a hash of the text that identifies it, so that it is equal on all ranks. Its name travels once.
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
  std::string text;
};

// What a rank has done so far of one event; sums since the program began.
struct Metrics {
  double calls;
  double time_ns;
  double bytes;
};
constexpr std::size_t metric_count = sizeof(Metrics) / sizeof(double);

// What one rank hands over in one round.
struct Snapshot {
  std::uint64_t round;
  std::uint32_t rank;               // in MPI_COMM_WORLD
  std::int64_t offloaded_ns;        // when the offload began: CLOCK_REALTIME, since the epoch
  std::span<const EventKey> keys;   // ascending, each once
  std::span<const Metrics> values;  // of each key
};

// How fast ranks are to offload, from a round on that none of them has reached: the same decision on all ranks.
struct Pace {
  std::uint64_t from_round;
  std::int64_t interval_ns;  // of points of the program: as far as that can be told
  std::uint64_t every;       // each so many points are an offload
};

class SnapshotTaker {
 public:
  virtual ~SnapshotTaker() = default;
  // Each name once a source, before or with the first snapshot that has its key.
  virtual void name(EventKey key, std::string_view text) = 0;
  // Whether the next snapshot of a rank has room. If not, it is to stay in the rank's buffer: nothing is lost between
  // the two, and the rank's own policy says what happens when that buffer is full.
  virtual bool wants(std::uint32_t /*rank*/) { return true; }
  // Rounds of one rank ascend. One that is left out is lost.
  virtual void snapshot(const Snapshot& snapshot) = 0;
};

class SnapshotSource {
 public:
  virtual ~SnapshotSource() = default;
  // The ranks that it serves now. More may come, and those that have ended go.
  virtual RankSet ranks() = 0;
  // How many ranks the program has, also those of other nodes; 0: that is not known.
  virtual std::uint32_t world() const { return 0; }
  // Before the first poll, and before a further program: its rounds count from this one on.
  virtual void begin_at(std::uint64_t /*round*/) {}
  // Hands what ranks have offloaded to `taker` and frees its room. Bounded by what the ranks' buffers hold.
  // Returns how many snapshots there were.
  virtual std::size_t poll(SnapshotTaker& taker) = 0;
  // Becomes readable when there is something to poll for; -1 if nothing tells, and it is polled by time.
  virtual int wakeup_fd() const { return -1; }
  // All ranks change to it at the same round.
  virtual void set_pace(const Pace& /*pace*/) {}
  // Bytes that whoever owns the root sent down the tree for all sources (at most max_command_bytes).
  virtual void command(std::span<const std::byte> /*command*/) {}
};
constexpr std::size_t max_command_bytes = 4096;

// What reducing a round cost, summed over the nodes that took part.
struct RoundCost {
  std::uint64_t reduce_ns = 0;  // merging: T_R of Nataraj et al. (2008) is reduce_ns / reductions
  std::uint64_t packet_ns = 0;  // encoding and decoding: T_P is packet_ns / packets
  std::uint32_t reductions = 0;
  std::uint32_t packets = 0;
};

// A round as it leaves the tree. Times are of the root's clock, since the epoch.
struct Round {
  std::uint64_t round = 0;
  RankSet ranks;                      // whose snapshots are in it
  RankSet lost;                       // ranks of the tree whose snapshots are not
  std::int64_t first_offload_ns = 0;  // the earliest and the latest of the ranks in it
  std::int64_t last_offload_ns = 0;
  std::int64_t arrived_ns = 0;      // when the root had the last part of it
  std::int64_t clock_error_ns = 0;  // the offload times may be wrong by so much; 0 on one node
  RoundCost cost;
  std::string_view filter;             // its specification, as given to make_filter()
  std::span<const std::byte> reduced;  // the filter's result; its header says how to read it

  // The one-way delay of Nataraj et al.: from the earliest offload to the arrival.
  std::int64_t delay_ns() const { return arrived_ns - first_offload_ns; }
  bool is_whole() const { return lost.empty(); }
};

class RoundSink {
 public:
  virtual ~RoundSink() = default;
  virtual void name(EventKey key, std::string_view text) = 0;  // each key once
  virtual void round(const Round& round) = 0;                  // rounds ascend
  // A round of which too many children of some node failed, so that there is no result: no rank of it is delivered.
  virtual void lost_round(std::uint64_t round, const RankSet& lost) = 0;
};

}  // namespace tare::tared
