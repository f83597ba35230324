// One row of the profile of a thread: calls of one kind. Part of the segment (segment.h).
#pragma once

#include <bit>
#include <cstdint>

namespace tare::format {

inline constexpr unsigned duration_bins = 26;
inline constexpr std::uint8_t no_size = 255;  // size class of calls that move no bytes

// One row of the profile table. Also on disk: the payload of a profile chunk is a LocationSummary and an array of rows.
// Durations are in ticks. Bin i of the histogram counts durations of bit width i + 6; the first and the last bin also
// those below and above. A call of a known row touches the first two or three cache lines, in this order.
struct ProfileRow {
  std::uint32_t site;  // 0 in rows that count calls of many sites
  // Part of `estimated`: calls whose time is not in `ticks` yet. The next timed call represents them.
  std::uint32_t pending;
  std::uint16_t function;
  std::uint8_t size_class;  // bit width of the bytes of one call; no_size
  std::uint8_t reserved2;
  std::uint32_t communicator;
  std::uint64_t estimated;  // calls whose time is estimated (mpi/calls/polls.h, recorder/timing_sample.h)
  std::uint64_t calls;
  std::uint64_t ticks;
  std::uint64_t ticks_min;
  std::uint64_t ticks_max;
  double ticks_squared;  // sum of squares
  std::uint64_t bytes;
  std::uint64_t received;      // beside those of `bytes`, by calls that send and receive
  std::uint64_t waited_ticks;  // of the calls of MPI_Wait, MPI_Test and similar functions that completed its requests
  std::uint32_t histogram[duration_bins];
};
static_assert(sizeof(ProfileRow) == 192);
inline constexpr unsigned first_bin_width = 6;

// Where a duration belongs in a histogram.
inline unsigned duration_bin(std::uint64_t ticks) noexcept {
  constexpr std::uint64_t least = (1U << first_bin_width) - 1;
  const auto bin = static_cast<unsigned>(std::bit_width(ticks | least)) - first_bin_width;
  return bin < duration_bins ? bin : duration_bins - 1;
}

inline constexpr unsigned index_slots = 4096;  // of the hash table of row numbers

}  // namespace tare::format
