// The block of a location: all that one thread records. Part of the segment (segment.h).
#pragma once

#include <atomic>
#include <cstdint>

#include "format/current_call.h"
#include "format/functions.h"
#include "format/location_summary.h"
#include "format/peer_table.h"
#include "format/phase_table.h"
#include "format/profile_row.h"
#include "format/scheduling.h"
#include "format/weighed.h"

namespace tare::format {

// Calls of functions that are only counted, by function number. The size of the array in a LocationHeader.
inline constexpr unsigned max_functions = 1024;
static_assert(function_count < max_functions, "segments have no counter for the last functions");

struct LocationHeader {
  alignas(64) CurrentCall current;
  alignas(64) std::atomic<std::uint64_t> head;  // position in the event buffer: see ring.h
  std::uint32_t block;                          // index of this block in the segment
  std::uint32_t row_capacity;                   // of the profile table: as in the SegmentHeader
  OtherCalls others;
  alignas(64) std::atomic<std::uint64_t> drained;  // of the event buffer: see Drained
  TaredTotals tared;                               // written only by tared
  alignas(64) LocationSummary summary;
  alignas(64) WeighedCalls weighed[weighed_kinds];  // their `kind` is set on disk only
  alignas(64) std::uint64_t lookups[max_functions];
  std::uint16_t index[index_slots];      // hash table of row numbers; 0 = empty. Row 0: there is no room
  std::uint16_t peer_index[peer_slots];  // the same for peers
  alignas(64) PhaseEntry phases[phase_capacity];
  alignas(64) PeerEntry peers[peer_capacity];
  alignas(64) SchedulingSums scheduling;
  SchedulingSpan scheduling_spans[max_scheduling_spans];
};

// The FlushRecords of what tared has drained of a block are in event chunks with this bit in the block number. Each has
// a chunk of its own, whose sequence is the number of the sub-buffer.
inline constexpr std::uint32_t tared_block = 0x80000000;
constexpr bool is_of_tared(std::uint32_t block) noexcept { return (block & tared_block) != 0; }

inline constexpr std::uint64_t rows_at = (sizeof(LocationHeader) + 63) / 64 * 64;

inline ProfileRow* rows_of(LocationHeader* location) noexcept {
  return reinterpret_cast<ProfileRow*>(reinterpret_cast<char*>(location) + rows_at);
}
inline const ProfileRow* rows_of(const LocationHeader* location) noexcept {
  return rows_of(const_cast<LocationHeader*>(location));
}
// The block that the rows, from the first on, belong to.
inline LocationHeader* block_of(ProfileRow* rows) noexcept {
  return reinterpret_cast<LocationHeader*>(reinterpret_cast<char*>(rows) - rows_at);
}
// The start of the sub-buffers in a location block.
constexpr std::uint64_t buffer_at(std::uint32_t row_capacity) noexcept {
  return rows_at + row_capacity * sizeof(ProfileRow);
}
inline char* buffer_of(LocationHeader* location, std::uint32_t row_capacity) noexcept {
  return reinterpret_cast<char*>(location) + buffer_at(row_capacity);
}
inline const char* buffer_of(const LocationHeader* location, std::uint32_t row_capacity) noexcept {
  return buffer_of(const_cast<LocationHeader*>(location), row_capacity);
}

}  // namespace tare::format
