// The locations of this process: one for each thread that records, which gets it at its first event and leaves it to
// another thread when it ends.
#pragma once

#include <cstdint>

#include "format/segment.h"

namespace tare::recorder {

// The block of a number; nullptr if there is none. Takes a lock.
format::LocationHeader* block_at(std::uint32_t block) noexcept;

// A row of a block's table; nullptr if there is no such block. Takes a lock.
const format::ProfileRow* row_of(std::uint32_t block, std::uint32_t row) noexcept;

// From here on the end of a thread is seen. Called once in a process.
void watch_thread_ends() noexcept;

// In a forked child: the threads and blocks of the parent do not exist.
void forget_locations() noexcept;

}  // namespace tare::recorder
