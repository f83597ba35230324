// The chunks that a process writes about itself to the file of the node (node_file.h): what a collector would write.
#pragma once

#include <cstdint>

#include "format/segment.h"

namespace tare::recorder {

// For a forked child: resets the locks, because the threads that may have held them do not exist.
void reset_process_chunks() noexcept;

// Appends the process record as it is now. False if it could not be written.
bool write_process(const format::SegmentHeader& segment) noexcept;

// Appends the new part of the definition log. False if it could not be written.
bool write_definitions(format::SegmentHeader& segment) noexcept;

// Finds the block with that number, or nullptr.
using BlockAt = format::LocationHeader*(std::uint32_t block) noexcept;

// Appends all that a collector would: definitions, events, profile, calls and process record. False if anything could
// not be written.
bool write_everything(format::SegmentHeader& segment, BlockAt* block_at) noexcept;

}  // namespace tare::recorder
