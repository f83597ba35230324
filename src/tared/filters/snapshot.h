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

#include "format/round.h"

namespace tare::tared {

using format::Bytes;
using format::EventKey;
using format::metric_count;
using format::Metrics;
using format::RankSet;
using format::Reader;
using format::RoundCost;
using format::Writer;

// FNV-1a of 64 bits (Fowler, Noll, Vo), and the finaliser of MurmurHash3, as names differ mostly at their ends.
constexpr EventKey event_key(std::string_view identity) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : identity) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  hash = (hash ^ (hash >> 33U)) * 0xff51afd7ed558ccdU;
  hash = (hash ^ (hash >> 33U)) * 0xc4ceb9fe1a85ec53U;
  return hash ^ (hash >> 33U);
}

// Sent once for each event.
struct EventName {
  EventKey key;
  std::string text;       // its identity: "MPI_Send", "region solve", "counter residual"
  std::string unit = {};  // of a counter
};

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

struct Round : format::Round {
  // Snapshots of these ranks since the last ones that came: those for which a rank had no room, and those that the tree
  // brought too late. A rank that did not come to its point has none.
  std::uint64_t dropped = 0;
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
