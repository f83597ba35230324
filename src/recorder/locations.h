// The locations of this process, one for each thread that records. A thread gets its location at its first event. When
// it ends, another thread may get the location.
#pragma once

#include <cstdint>

#include "format/segment.h"

namespace tare::recorder {

// The block with that number, or nullptr. Takes a lock.
format::LocationHeader* block_at(std::uint32_t block) noexcept;

// A row of a block's table; nullptr if there is no such block. Takes a lock.
const format::ProfileRow* row_of(std::uint32_t block, std::uint32_t row) noexcept;

// From now on the ends of threads are noticed. Called once in a process.
void watch_thread_ends() noexcept;

// For a forked child: the threads and blocks of the parent do not exist.
void forget_locations() noexcept;

}  // namespace tare::recorder
