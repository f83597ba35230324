// Writing to the file of the node: <run directory>/<node>.tare.
#pragma once

#include <cstddef>
#include <cstdint>

#include "format/chunk.h"
#include "format/segment.h"

namespace tare::recorder {

// Sets the name of the file, after label_node() (maker.h). Called once, when the process attaches.
void set_node_file(const char* run_dir, const char* node) noexcept;

// For a forked child: resets the locks, because the threads that may have held them do not exist.
void release_node_file() noexcept;

// Appends one whole chunk. Creates the file, with the names of the functions in it, if it does not exist. False if any
// byte could not be written. A reader skips the incomplete chunk.
bool append_chunk(const char* chunk, std::size_t bytes) noexcept;

// The part of a chunk header that says which process writes it, and when.
format::ChunkHeader identity(const format::SegmentHeader& segment, format::ChunkType type) noexcept;

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
