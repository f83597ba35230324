// Shared memory with the synthetic ranks of an experiment: what they offload, and the cost. All processes of the
// experiment map it.
//
// Each rank has a ring of snapshots with one writer, the process that plays the rank, and one reader, its node. A
// snapshot is copied into the ring as in a real rank: no system call, no lock.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <span>

#include "tared/filters/snapshot.h"

namespace tare::tared {

enum class Policy : std::uint32_t {
  block,    // a rank waits until its ring has room
  unbound,  // a thread beside the rank keeps snapshots without room, without limit: "non-blocking" of Nataraj et al.
  lossy,    // a rank drops snapshots without room
};

// A command for all ranks. It travels down the tree.
struct Play {
  std::uint64_t first_round = 0;
  std::uint32_t rounds = 0;
  std::uint32_t events = 0;
  std::int64_t interval_ns = 0;
  std::int64_t start_ns = 0;  // of the first round, by CLOCK_REALTIME
  Policy policy = Policy::block;
  std::uint32_t in_step = 0;    // 1: work for an interval, barrier, offload (bspbench); 0: offload by the clock
  std::uint32_t offloads = 1;   // 0: everything but the offloads
  std::uint32_t irregular = 0;  // 1: random intervals with the mean `interval_ns`, the same on all ranks
  // If not 0, rounds are offload points up to Stage::last_point(). Every `every`-th point is an offload until the root
  // decides otherwise (PaceKeeper).
  std::uint32_t every = 0;
};
// For an irregular play: the time from its start to a round. Intervals are exponential, so rounds are a Poisson
// process.
std::int64_t irregular_offset_ns(std::uint32_t round, std::int64_t interval_ns);

struct StageShape {
  std::uint32_t ranks = 0;
  std::uint32_t max_events = 0;
  std::uint32_t slots = 8;       // snapshots in a ring
  std::uint32_t max_rounds = 0;  // of one play
  std::uint32_t players = 0;     // processes with ranks
};

class Stage {
 public:
  explicit Stage(const StageShape& shape);  // throws std::bad_alloc
  ~Stage();
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  struct Slot {
    std::uint64_t round;
    std::int64_t offloaded_ns;
    std::uint64_t events;
    std::uint64_t dropped;  // number of rounds dropped since the previous snapshot
  };
  struct alignas(64) Ring {
    std::atomic<std::uint64_t> head;
    alignas(64) std::atomic<std::uint64_t> tail;
  };
  // What happened to the snapshot of a rank in a round of a play.
  enum class Fate : std::uint32_t { none, offloaded, dropped };
  struct Offload {
    std::atomic<std::uint32_t> cost_ns;  // from the start to the end of the offload
    std::atomic<Fate> fate;
  };

  const StageShape& shape() const { return shape_; }
  Ring& ring(std::uint32_t rank) { return rings_[rank]; }
  Slot& slot(std::uint32_t rank, std::uint64_t number);
  Metrics* values(std::uint32_t rank, std::uint64_t number);
  Offload& offload(std::uint32_t rank, std::uint32_t round) {
    return offloads_[std::uint64_t{rank} * shape_.max_rounds + round];
  }
  std::span<const EventKey> keys(std::uint32_t events) const { return {keys_, events}; }
  bool has_room(std::uint32_t rank);
  // Must only be called by the writer of the ring, and only if there is room.
  void put(std::uint32_t rank, const Slot& about, std::span<const Metrics> values);
  pthread_barrier_t& barrier() { return *barrier_; }
  std::atomic<std::int64_t>& played_ns(std::uint32_t player) { return played_ns_[player]; }
  std::atomic<std::uint64_t>& last_point() { return *last_point_; }
  void reset(std::uint32_t rounds);

 private:
  StageShape shape_;
  std::uint64_t slot_bytes_ = 0;
  std::uint64_t bytes_ = 0;
  std::byte* memory_ = nullptr;
  Ring* rings_ = nullptr;
  Offload* offloads_ = nullptr;
  EventKey* keys_ = nullptr;
  pthread_barrier_t* barrier_ = nullptr;
  std::atomic<std::int64_t>* played_ns_ = nullptr;  // by player: the duration of the last play; 0: not ended
  std::atomic<std::uint64_t>* last_point_ = nullptr;
  std::byte* slots_ = nullptr;
};

}  // namespace tare::tared
