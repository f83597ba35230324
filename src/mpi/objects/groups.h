// Groups of processes. The members are stored as runs of ranks in MPI_COMM_WORLD, so a regular group of any size is
// small. A group is defined (definition.h) once in a process and kept. Equal groups are one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "format/definition.h"

namespace tare::mpi {

struct Group {
  std::uint32_t number;  // 0: there was no room to define it
  std::int32_t size;
  std::uint64_t hash;  // of the members in order; equal in all processes of a world
  std::uint32_t run_count;
  const format::MemberRun* runs;
  const std::int32_t* begins;  // rank in the group of the first member of each run
};

// Represents a member that is not in this world.
inline constexpr std::int32_t not_in_world = -1;

// The group of these members; nullptr if there is no memory for it. Thread-safe.
const Group* add_group(const std::int32_t* members, std::int32_t size) noexcept;
// The group of ranks 0 to size - 1 of the world.
const Group* add_whole_world(std::int32_t size) noexcept;

// The number of a group that epochs have, as which it is defined from now on; 0 if it is not known. Thread-safe.
std::uint32_t number_for_epochs(const Group* group) noexcept;

// The rank of a member in the world; not_in_world if it has none, the rank does not exist, or the group is not known
// (nullptr).
std::int32_t world_rank(const Group* group, std::int32_t rank) noexcept;

// Mixes a value into a hash. The result is the same in all processes.
constexpr std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) noexcept {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15U;
  return hash ^ hash >> 32;
}

}  // namespace tare::mpi
