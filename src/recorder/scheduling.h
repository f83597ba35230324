// Reads now and then how the operating system has scheduled a thread (format/scheduling.h).
#pragma once

#include <cstdint>

namespace tare::format {
struct LocationHeader;
struct SchedulingSums;
struct SchedulingSpan;
}  // namespace tare::format

namespace tare::recorder {

struct Location;

// What a thread was in when a reading is made.
enum class Piece : std::uint8_t { outside, in_call };

// Makes a reading. The thread was in `piece`, a call or the time between two
// calls, from `begin` to `end`, in ticks. It does not allocate, and keeps errno. It opens a file of /proc if the thread
// was blocked.
[[gnu::cold, gnu::noinline]] void read_scheduling(Location& location, Piece piece, std::uint64_t begin,
                                                  std::uint64_t end) noexcept;

// The same at the end of a thread, if it may have been there to wait for work (format/scheduling.h).
void read_last_scheduling(Location& location) noexcept;

// Adds a span; makes room by adding short ones to their neighbours.
void add_span(format::SchedulingSums& sums, format::SchedulingSpan* spans, const format::SchedulingSpan& span) noexcept;

}  // namespace tare::recorder
