// Layout of the shared-memory segment of a measured process.
//
// A segment is a file (in /dev/shm, or in the run directory where that is too small) mapped by the process
// and readable by anyone with the run's permissions, at any time, also after the process has died: results
// do not depend on a shutdown that may never come. The layout is private to one build of tare: writer and
// collector check `layout`. What reaches the disk is described in docs/format.md; the structs marked "also
// on disk" are written there byte for byte.
//
//   0                 SegmentHeader (4 KiB), with the ProcessRecord (process_record.h)
//   definitions_at    definition log, append-only (definition.h)
//   requests_at       RequestTable: the requests under way, if the process calls MPI (request_table.h)
//   samples_at        what is kept of sampled messages, if they are sampled (sample.h)
//   spell_sums_at     SpellSumsTable, if some spells are only counted (spell_sums.h)
//   offloads_at       snapshots on their way to the monitor, if the run is monitored (offload_ring.h)
//   stacks_at         StackSamples and its table, if stacks are sampled (stack_samples.h)
//   files_at          FileTable, if calls of functions on files are recorded (file_table.h)
//   locations_at      location blocks of `location_stride` bytes: LocationHeader, rows (location_block.h), event
//                     buffer (ring.h), SpanEntry[span_capacity] if the run is monitored
#pragma once

#include <atomic>
#include <cstdint>

#include "format/location_block.h"
#include "format/maker.h"
#include "format/process_record.h"
#include "format/request_table.h"
#include "format/ring.h"
#include "format/run_key.h"

namespace tare::format {

inline constexpr std::uint64_t segment_magic = 0x314d474553455241;  // "ARESEGM1"
inline constexpr std::uint32_t segment_layout = 25;

struct SegmentHeader {
  std::uint64_t magic;
  std::uint32_t layout;
  std::uint32_t functions;  // size of the function table of the writer
  std::uint64_t definitions_at;
  std::uint64_t definitions_capacity;
  std::atomic<std::uint64_t> definitions_bytes;  // published length of the log
  std::uint64_t definitions_written;             // of which on disk already
  std::uint64_t requests_at;                     // 0: there is no request table
  std::uint64_t samples_at;                      // SampleSummary and its classes; 0: messages are not sampled
  std::uint64_t spell_sums_at;                   // 0: all calls are measured
  std::uint64_t offloads_at;                     // OffloadRing and its entries; 0: the run is not monitored
  std::uint64_t stacks_at;                       // 0: stacks are not sampled
  std::uint64_t files_at;                        // 0: calls of functions on files are not recorded
  std::uint64_t locations_at;
  std::uint64_t location_stride;
  std::atomic<std::uint32_t> locations;  // blocks that exist
  std::uint32_t row_capacity;            // rows per location
  RingShape ring;                        // event buffer per location; without trace of no sub-buffers
  std::uint64_t keep_ns;                 // events older than this at the end are left out; 0: none are
  Maker maker;
  RunKey run_key;
  ProcessRecord process;
};
static_assert(sizeof(SegmentHeader) <= 4096);
inline constexpr std::uint64_t segment_header_bytes = 4096;

}  // namespace tare::format
