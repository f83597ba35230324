// Identifiers of 64 bits for processes and nodes. Within a run no two processes and no two nodes have the same.
#pragma once

#include <cstdint>

namespace tare::recorder {

// Identifies the running system: a hash of host name and boot id, equal in all of its processes.
std::uint64_t node_name() noexcept;

// Identifies the memory behind files in `directory`, equal in all processes that share it. It may differ from the
// system's, because each container on a node may have a /dev/shm of its own. 0 if there is no such directory.
std::uint64_t shared_memory_name(const char* directory) noexcept;

// A new identifier of this process. Process id and time are not enough: of 100,000 ranks that start together on 1,000
// nodes, many would have both in common.
std::uint64_t new_process_name() noexcept;

}  // namespace tare::recorder
