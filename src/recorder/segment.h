// The segment of this process (format/segment.h).
#pragma once

#include <cstdint>

#include "format/file_table.h"
#include "format/offload_ring.h"
#include "format/sample.h"
#include "format/segment.h"
#include "format/spell_sums.h"
#include "format/stack_samples.h"
#include "recorder/configuration.h"

namespace tare::recorder {

// The head of the segment; nullptr if the process does not record.
format::SegmentHeader* segment() noexcept;

// The request table of the segment; nullptr if there is none.
format::RequestTable* request_table() noexcept;

// The summary of sampled messages, followed by the classes; nullptr if messages are not sampled.
format::SampleSummary* sample_summary() noexcept;

// The sums over spells of a trial or a budget; nullptr if there are none.
format::SpellSumsTable* spell_sums() noexcept;

// The stack samples of the process; nullptr if none are taken.
format::StackSamples* stack_samples() noexcept;

// What the process does with files; nullptr if that is not recorded.
format::FileTable* file_table() noexcept;

// The ring of snapshots for the monitor; nullptr if the run is not monitored.
format::OffloadRing* offload_ring() noexcept;
// The regions and counters of a location for the monitor: format::span_capacity entries; nullptr if there is no
// monitor.
format::SpanEntry* spans_of(format::LocationHeader* block) noexcept;

// Whether events are recorded.
bool traced() noexcept;

// Writes a new clock pair into the segment.
void note_clock() noexcept;

// Creates the file of the segment in shared memory or in the run directory (room.h), as large as there is room, and
// fills in the head except for the magic number. nullptr, with a line on stderr, if there is no room in either.
format::SegmentHeader* create_segment(const Configuration& configuration) noexcept;

// Whether `collector` (TARE_COLLECTOR) will find the segment, and see that this process has died.
bool is_seen_by(const char* collector, const format::SegmentHeader& created) noexcept;

// Makes it the segment of this process.
void use_segment(format::SegmentHeader* created) noexcept;

// Maps the memory of a new location block; nullptr if there is no room for it. If there is room for all but its event
// buffer, no buffer.
format::LocationHeader* map_block(std::uint32_t block, bool& has_buffer) noexcept;
void unmap_block(format::LocationHeader* block) noexcept;

// Removes the file. The memory stays mapped.
void remove_segment_file() noexcept;

// For a forked child: the segment is the parent's.
void reset_segment() noexcept;

}  // namespace tare::recorder
