// The locations of this process, one for each thread that records. When a thread ends, another one may get its
// location.
#pragma once

#include <cstdint>

#include "format/segment.h"
#include "recorder/location.h"

namespace tare::recorder {

// This thread's location, nullptr before its first call. Initial-exec: the library is loaded at start-up.
[[gnu::visibility("hidden")]] extern constinit thread_local Location* this_location [[gnu::tls_model("initial-exec")]];

// Gives this thread a location, one that no thread has any more or a new one. nullptr if there is no memory.
Location* take_location(format::SegmentHeader& header) noexcept;

// The thread begins to record. From here on the location is `this_location`.
void begin_thread(Location& location) noexcept;

// The block with that number, or nullptr. Takes a lock.
format::LocationHeader* block_at(std::uint32_t block) noexcept;

// A row of a block's table; nullptr if there is no such block. Takes a lock.
const format::ProfileRow* row_of(std::uint32_t block, std::uint32_t row) noexcept;

// From now on the ends of threads are noticed. Called once in a process.
void watch_thread_ends() noexcept;

// For a forked child: the threads and blocks of the parent do not exist.
void reset_locations() noexcept;

}  // namespace tare::recorder
