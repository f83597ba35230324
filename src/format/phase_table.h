// What happened in each phase of a thread. Part of the segment (segment.h).
#pragma once

#include <cstdint>

namespace tare::format {

enum PhaseFlags : std::uint32_t {
  bytes_as_in_rows = 1,  // without ProfileRow::received; older files do not have the flag, and count both
};

// What happened in a phase, without what happened in phases within it. Also on disk.
struct PhaseEntry {
  std::uint32_t type;       // number of its event type, which has its name; 0: outside of any phase
  std::uint32_t flags;      // PhaseFlags
  std::uint64_t entries;    // how often it began
  std::uint64_t ticks;      // without the present visit: see LocationSummary
  std::uint64_t mpi_ticks;  // of them in MPI
  std::uint64_t calls;      // timed ones
  std::uint64_t bytes;      // of the calls, and received for requests that completed
};
static_assert(sizeof(PhaseEntry) == 48);

// Entry 0 takes what finds no room.
inline constexpr unsigned phase_capacity = 64;
inline constexpr std::uint32_t other_phase = UINT32_MAX;  // its type
// Phase 1 is the time outside of all phases. Only its time is stored. Its calls are those of the rows that no other
// phase has, so a program without phases has no cost.
inline constexpr std::uint32_t outside_phases = 1;

}  // namespace tare::format
