// The counters of a location: events, drains, losses, calls that are only counted. Part of the segment (segment.h).
#pragma once

#include <cstdint>

namespace tare::format {

// What the node's tared has drained of a block. Also on disk.
struct TaredTotals {
  std::uint64_t drains;
  std::uint64_t ticks;
  std::uint64_t records;
  std::uint64_t raw_bytes;
  std::uint64_t bytes;
};

// Counters of a location. Also on disk, at the head of a profile chunk.
struct LocationSummary {
  std::uint32_t number;     // of the thread that owns the block now, in order of first MPI call
  std::uint32_t thread_id;  // the kernel's
  std::uint32_t rows;       // used
  std::uint16_t in_use;     // 0 once the thread has ended and the block waits for another
  std::uint16_t weighed;    // entries behind the phases, on disk only
  std::uint64_t events;     // call and completion records written to the buffer, ever
  std::uint64_t dropped;    // of them lost
  std::uint64_t flushes;
  std::uint64_t flush_ticks;
  std::uint64_t flush_raw_bytes;  // before encoding
  std::uint64_t flush_bytes;      // written
  std::uint64_t completions;      // requests completed by its calls, as far as they were looked up
  std::uint32_t peers;            // entries in use, as of rows
  std::uint32_t phases;
  std::uint64_t phase_since;        // when the current phase began or was returned to, in ticks
  std::uint32_t phase;              // the current phase, as an entry of the phase table
  std::uint32_t full;               // FullTables
  std::uint64_t overwritten_bytes;  // of records that newer ones have replaced, or that were too old to be written
  std::uint64_t api_events;         // events of the API that were recorded, also if they were dropped or overwritten
  TaredTotals tared;                // in a segment 0: see summary_of
};
static_assert(sizeof(LocationSummary) == 152);
enum FullTables : std::uint32_t {
  full_rows = 1,
  full_peers = 2,
  full_phases = 4,
  kept_newest = 8,            // the buffer could not be written; from then on only its newest events were kept
  no_space = 16,              // the reason was a lack of space
  full_communicators = 32,    // some communicators are not defined
  merged_communicators = 64,  // some rows stand for communicators that are not alike
  without_buffer = 128        // there was no memory for an event buffer, although there is a trace
};

// The counters of a location as they are on disk: the sum of both parts.
inline LocationSummary summary_of(LocationSummary summary, const TaredTotals& tared) noexcept {
  summary.tared = tared;
  summary.events += tared.records;
  return summary;
}

// One counter of a location that is not zero. Also on disk, behind the rows of a profile chunk.
struct CountedCalls {
  std::uint64_t function;
  std::uint64_t calls;
};
static_assert(sizeof(CountedCalls) == 16);

}  // namespace tare::format
