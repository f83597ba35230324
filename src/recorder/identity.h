// Names of 64 bits for what a run has many of: no two processes, nor two nodes, of a run have the same.
#pragma once

#include <cstdint>

namespace tare::recorder {

// The running system that this process is on, as all of its processes name it: of host name and boot id.
std::uint64_t node_name() noexcept;

// The memory behind files in `directory`, as all processes that share it name it: containers on one node may have a
// /dev/shm each. 0 if there is no such directory.
std::uint64_t shared_memory_name(const char* directory) noexcept;

// A name for this process that it has not had before. Process id and time are not enough: 100,000 ranks that start
// together on 1,000 nodes have few of either among them.
std::uint64_t new_process_name() noexcept;

}  // namespace tare::recorder
