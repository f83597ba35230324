// How large an event buffer is, and into how many sub-buffers it is divided.
#pragma once

#include <cstdint>

#include "format/record.h"
#include "format/ring.h"

namespace tare::recorder {

// A sub-buffer of this size becomes one chunk: of 4096 calls, or of more records if some are shorter.
inline constexpr std::uint64_t usual_sub_buffer = 4096 * sizeof(format::CallRecord);
// A thread that drains by itself pays for setting up each chunk, and a longer chunk compresses better. So twice the
// size.
inline constexpr std::uint64_t own_sub_buffer = 2 * usual_sub_buffer;

// Default sizes of an event buffer.
// A drain displaces the program's data from the caches of the processor, whatever it drains. So it should be rare.
inline constexpr std::uint64_t default_event_buffer = 8 * own_sub_buffer;
// A budget learns what writing costs when a buffer has been written, and its limit of size includes what buffers hold.
inline constexpr std::uint64_t default_event_buffer_with_budget = 2 * own_sub_buffer;
// For tared to drain. It has many sub-buffers, because tared may be late.
inline constexpr std::uint64_t default_event_buffer_with_tared = 8 * usual_sub_buffer;
inline constexpr std::uint64_t default_flight_recorder = 4 << 20;  // policy `overwrite`

// An event buffer of about `bytes` bytes of records; 0: of the default size.
format::RingShape ring_of(std::uint64_t bytes, format::Policy policy, bool has_tared, bool has_budget) noexcept;

}  // namespace tare::recorder
