// How much the ranks of a world sent to one another: a matrix of groups of neighbouring ranks. Its size depends on the
// number of groups, and not on the number of pairs of ranks.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "reader/model/communicator_info.h"
#include "reader/model/process.h"

namespace tare::reader {

struct Exchange {
  // Messages and bytes from group `from` to group `to`. Group g holds the ranks g * group to (g + 1) * group - 1.
  struct Cell {
    std::int32_t from = 0, to = 0;
    std::uint64_t messages = 0, bytes = 0;
  };

  int world = 0;
  std::int32_t size = 0;               // number of ranks of the world
  std::int32_t group = 1;              // number of ranks of a group
  std::vector<Cell> cells;             // those with messages, sorted by `from` and `to`
  std::uint64_t elsewhere = 0;         // messages sent to ranks of other worlds, or to unknown ranks
  std::uint64_t messages = 0;          // messages sent plus messages received, over all ranks
  std::uint64_t between = 0;           // messages sent by a rank to another rank of the world
  std::int32_t busiest = -1;           // the rank that sent or received most of `between`; -1: there are none
  std::uint64_t busiest_messages = 0;  // part of `between`: of this rank
};

// Adds up the peers of profiles. Not thread-safe: each thread has its own, and join() adds them up.
class ExchangeSummer {
 public:
  // Each world has at most `max_groups` groups, which is at least 1. `communicators` must outlive the object.
  ExchangeSummer(const std::vector<Process>& processes, const std::vector<CommunicatorInfo>& communicators,
                 std::int32_t max_groups);

  void add(const Process& process, const Profile& profile);
  void join(const ExchangeSummer& other);
  // Sorted by world; worlds without ranks are left out.
  std::vector<Exchange> take() const;

 private:
  struct World {
    std::int32_t size = 0, group = 1;
    std::vector<std::uint64_t> messages, bytes;  // by cell; empty until there is a message
    std::uint64_t elsewhere = 0, all = 0, between = 0;
    std::unordered_map<std::int32_t, std::uint64_t> of_rank;
  };

  void add_to_cell(World& world, std::size_t cell, std::uint64_t messages, std::uint64_t bytes) const;

  const std::vector<CommunicatorInfo>* communicators_;
  std::size_t max_groups_;
  std::map<int, World> worlds_;
};

}  // namespace tare::reader
