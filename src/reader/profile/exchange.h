// How much the ranks of a world have sent to one another, by groups of neighbouring ranks: in memory that depends on
// the number of groups, not on how many pairs of ranks there are.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "reader/model/communicator_info.h"
#include "reader/model/process.h"

namespace tare::reader {

struct Exchange {
  // Messages and bytes from one group to another.
  struct Cell {
    std::int32_t from = 0, to = 0;
    std::uint64_t messages = 0, bytes = 0;
  };

  int world = 0;
  std::int32_t size = 0;               // ranks of the world
  std::int32_t group = 1;              // so many ranks with neighbouring numbers are one group
  std::vector<Cell> cells;             // those with messages, sorted by `from` and `to`
  std::uint64_t elsewhere = 0;         // messages sent to ranks that are not known, or of other worlds
  std::uint64_t messages = 0;          // that all ranks have sent, and that all have received, together
  std::uint64_t between = 0;           // sent from a rank to another of the world
  std::int32_t busiest = -1;           // the rank with the most of these, as sender or receiver; -1: there are none
  std::uint64_t busiest_messages = 0;  // of `between`
};

// Adds up the peers of profiles. Not thread-safe; several can be joined.
class ExchangeSummer {
 public:
  // At most `most_groups` groups in each world. Both references must outlive the object.
  ExchangeSummer(const std::vector<Process>& processes, const std::vector<CommunicatorInfo>& communicators,
                 std::int32_t most_groups);

  void add(const Process& process, const Profile& profile);
  void join(const ExchangeSummer& other);
  // Sorted by world; worlds without ranks are left out.
  std::vector<Exchange> take() const;

 private:
  struct World {
    std::int32_t size = 0, group = 1;
    std::vector<std::uint64_t> messages, bytes;  // of cells, once there are any
    std::uint64_t elsewhere = 0, all = 0, between = 0;
    std::unordered_map<std::int32_t, std::uint64_t> of_rank;
  };

  void add_to_cell(World& world, std::size_t cell, std::uint64_t messages, std::uint64_t bytes) const;

  const std::vector<CommunicatorInfo>* communicators_;
  std::size_t most_groups_;
  std::map<int, World> worlds_;
};

}  // namespace tare::reader
