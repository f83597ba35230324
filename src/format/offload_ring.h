// Profile snapshots on their way from a process to the node's tared (src/monitor, src/tared/monitor): a ring in the
// segment with one writer, the process, and one reader, which may be slow, dead or hostile.
//
// A snapshot is a copy of numbers. The reader finds their meaning in the tables that they were copied from, which lie
// in the same segment and only grow. So the process looks nothing up, and sends no names.
//
//   OffloadRing       head, tail, account
//   OffloadRing::bytes of entries, each with an EntryHead, 8-byte aligned, none of which crosses the end:
//     snapshot        SnapshotHead, then for each location a SectionHead and Sums[rows + phases + spans]
//     filler          nothing: the next entry is at the start
//
// Positions count bytes and never decrease. The place of a position is its remainder by `bytes`, a power of two.
#pragma once

#include <atomic>
#include <cstdint>

#include "format/location_block.h"
#include "format/ring.h"

namespace tare::format {

// What the offloads have cost the process. Also on disk: the payload of an offloads chunk.
struct OffloadAccount {
  std::uint64_t points;     // offload points that the process reached
  std::uint64_t offloads;   // snapshots that it put into the ring
  std::uint64_t lost;       // that found no room
  std::uint64_t waited;     // offloads that waited for room (MonitorPolicy::block)
  std::uint64_t ticks;      // time of all this, waiting included
  std::uint64_t ticks_max;  // of one point
  std::uint64_t waited_ticks;
  std::uint64_t bytes;  // of snapshots
};
static_assert(sizeof(OffloadAccount) == 64);

struct OffloadRing {
  // The process writes these.
  alignas(64) std::atomic<std::uint64_t> head;  // up to here entries are whole
  std::atomic<std::uint64_t> written;           // snapshots up to there
  std::uint64_t bytes;                          // of entries
  alignas(64) OffloadAccount account;
  // The reader writes these.
  alignas(64) std::atomic<std::uint64_t> tail;  // up to here entries were taken
  std::atomic<std::uint64_t> taken;             // snapshots up to there
  std::atomic<std::uint32_t> takings;  // increased when entries are taken; a process that waits for room sleeps on this
};
static_assert(sizeof(OffloadRing) == 192);
inline constexpr std::uint64_t min_offload_bytes = 16 * 1024;
inline constexpr std::uint64_t max_offload_bytes = std::uint64_t{1} << 30U;

enum class EntryKind : std::uint32_t { filler = 0, snapshot = 1 };

struct EntryHead {
  std::uint32_t bytes;  // of the entry, this included
  EntryKind kind;
};

struct SnapshotHead {
  EntryHead entry;
  std::uint64_t round;
  std::uint64_t ticks;        // of the offload point
  std::uint64_t lost;         // OffloadAccount::lost before it
  std::uint32_t sections;     // SectionHeads that follow
  std::uint32_t unmonitored;  // threads without a section, because there are too many
};
static_assert(sizeof(SnapshotHead) == 40);

// One location: its rows from number 0 on, its phases, and the spans of its thread.
struct SectionHead {
  std::uint32_t block;
  std::uint32_t rows;
  std::uint32_t phases;
  std::uint32_t spans;
};
static_assert(sizeof(SectionHead) == 16);

// Values since the start of the run. Of a row or phase: calls or entries, ticks, bytes. Of a region: the same, with the
// ticks up to now if it is open. Of a counter: how often it was set, 0, and the bits of its value, a double.
struct Sums {
  std::uint64_t calls;
  std::uint64_t ticks;
  std::uint64_t bytes;
};
static_assert(sizeof(Sums) == 24);

// The regions of a thread, and the values of its counters: entry i is of event type i. Only monitored processes have
// them.
struct SpanEntry {
  std::uint64_t entries;
  std::uint64_t ticks;  // without the present visit
  std::uint64_t value;  // of a counter: the bits of a double
  std::uint64_t since;  // when it was entered, in ticks; 0: it is not open
  std::uint64_t depth;  // how often a region is open within itself
};
inline constexpr std::uint32_t span_capacity = 256;

// The place of the entries in a location block.
constexpr std::uint64_t spans_at(std::uint32_t row_capacity, const RingShape& ring) noexcept {
  return buffer_at(row_capacity) + ring.total();
}

}  // namespace tare::format
