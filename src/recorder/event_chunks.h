// Records become event chunks in the node's file.
#pragma once

#include <cstdint>

#include "format/segment.h"

namespace tare::recorder {

// Whose records they are, and the number of their first chunk.
struct Source {
  std::uint32_t block;
  std::uint32_t thread;
  std::uint32_t sequence;
};

// What became of records.
struct Written {
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;
  std::uint64_t lost = 0;    // could not be written, or make no sense
  int error = 0;             // errno of those that could not be written; 0: there is no memory to encode them
  std::uint32_t chunks = 0;  // sequence numbers that they took, also if they could not be written
};

// Encodes `bytes` bytes of records and appends them to the node's file. The chunks of the same records are always the
// same, so records may be written twice: a reader keeps one copy.
Written write_records(const format::SegmentHeader& segment, const Source& source, const char* records,
                      std::uint64_t bytes) noexcept;

}  // namespace tare::recorder
