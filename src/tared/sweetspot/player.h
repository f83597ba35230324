// Plays the synthetic ranks of one node: a thread makes their offloads when a command says so. The node reads their
// rings like those of real ranks.
//
// One thread plays all ranks, because there are fewer processors than ranks. So the ranks of a node offload one after
// another, and the cost of an offload is that of the copy alone.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "tared/filters/snapshot.h"
#include "tared/sweetspot/stage.h"

namespace tare::tared {

class Player : public SnapshotSource {
 public:
  // Plays ranks [first, first + count). `number`: index among the processes with ranks. `stage` must outlive the
  // object.
  Player(Stage& stage, std::uint32_t number, std::uint32_t first, std::uint32_t count);
  ~Player() override;
  Player(const Player&) = delete;
  Player& operator=(const Player&) = delete;

  RankSet ranks() override { return RankSet::of_range(first_, count_); }
  std::size_t poll(SnapshotTaker& taker) override;
  void command(std::span<const std::byte> command) override;
  void set_pace(const Pace& pace) override;

 private:
  void work();
  void play(const Play& play);
  void offload_as_decided(const Play& play);
  void offload(const Play& play, std::uint32_t rank, std::uint32_t round);
  void offload_last(const Play& play, std::uint32_t rank, std::uint64_t number);
  void put(std::uint32_t rank, std::uint64_t round, std::int64_t offloaded_ns, std::span<const Metrics> values);
  void hand_over_held(std::uint32_t rank);

  Stage& stage_;
  std::uint32_t number_;
  std::uint32_t first_;
  std::uint32_t count_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Play> plays_;
  std::atomic<std::uint64_t> cadence_ = 0;  // its last word (monitor/cadence.h); 0: none in this play
  bool is_ended_ = false;
  std::vector<Metrics> values_;
  std::vector<std::uint64_t> dropped_;  // by rank: rounds dropped since the last one that had room
  struct Held {
    std::uint64_t round;
    std::int64_t offloaded_ns;
    std::vector<Metrics> values;
  };
  std::vector<std::deque<Held>> held_;  // by rank, for Policy::unbound
  std::thread thread_;
};

}  // namespace tare::tared
