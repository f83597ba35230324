// The mailboxes of a node: one file in shared memory, mapped by its ranks and then removed, so that nothing is left
// behind however they end.
#pragma once

#include <cstdint>

namespace tare::mpi::sampling {

// What the ranks of a node map. The mailboxes lie behind it.
struct NodeFile {
  std::uint32_t size;    // ranks of the node
  std::int32_t ranks[];  // in the world, + 1; 0: has not mapped it
};

// Makes the file for `size` ranks; called by the first of them, with a `name` that nobody else takes. False if there
// is no room.
bool make_node_file(std::uint64_t name, std::uint32_t size) noexcept;
// Maps the file that the first rank has made and says that the `place`-th rank of the node, `rank` in the world, is
// there.
bool open_node_file(std::uint64_t name, std::uint32_t size, std::uint32_t place, std::int32_t rank) noexcept;
// Once all have: the sampler uses it. The first rank removes its name.
void use_node_file(std::uint64_t name, std::uint32_t place) noexcept;

}  // namespace tare::mpi::sampling
