// Writing to the file of the node: <run directory>/<host>.tare.
#pragma once

#include <cstddef>
#include <cstdint>

#include "format/chunk.h"
#include "format/segment.h"

namespace tare::recorder {

// Names the file; called once, when the process attaches.
void set_node_file(const char* run_dir, const char* host) noexcept;

// Resets the locks, in a forked child: the threads that may have held them are not there.
void release_node_file() noexcept;

// Appends one whole chunk; makes the file, and puts the names of the functions into it, if it is new.
// False if any byte could not be written: a reader finds its way around the torn chunk.
bool append_chunk(const char* chunk, std::size_t bytes) noexcept;

// The part of a chunk header that says who writes it, and when.
format::ChunkHeader identity(const format::SegmentHeader& segment, format::ChunkType type) noexcept;

// Appends the process record as it is now. False if it could not be written.
bool write_process(const format::SegmentHeader& segment) noexcept;

// Appends what the definition log has grown by. False if it could not be written.
bool write_definitions(format::SegmentHeader& segment) noexcept;

// The block of a number; nullptr if there is none.
using BlockAt = format::LocationHeader*(std::uint32_t block) noexcept;

// Appends definitions, events, profile, calls and process record: all that a collector would. False if anything could
// not be written.
bool write_everything(format::SegmentHeader& segment, BlockAt* block_at) noexcept;

}  // namespace tare::recorder
