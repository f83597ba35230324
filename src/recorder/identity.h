// The identifier of a process, of 64 bits. No two processes of a run have the same.
#pragma once

#include <cstdint>

namespace tare::recorder {

// A new identifier of this process. Process id and time are not enough: of 100,000 ranks that start together on 1,000
// nodes, many would have both in common.
std::uint64_t new_process_name() noexcept;

}  // namespace tare::recorder
