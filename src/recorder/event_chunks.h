// Encodes records as event chunks of the node's file.
#pragma once

#include <cstdint>

#include "format/segment.h"

namespace tare::recorder {

// Which thread made the records, and the number of their first chunk.
struct FirstChunk {
  std::uint32_t block;
  std::uint32_t thread;
  std::uint32_t sequence;
};

// The result of writing records.
struct Written {
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;
  std::uint64_t lost = 0;    // records that could not be written, or are invalid
  int error = 0;             // errno of a write that failed; 0: there was no memory for encoding
  std::uint32_t chunks = 0;  // sequence numbers used, also for chunks that could not be written
};

// Encodes `bytes` bytes of records and appends them to the node's file. The same records always become the same chunks.
// So records may be written twice, and a reader keeps one copy.
Written write_records(const format::SegmentHeader& segment, const FirstChunk& first, const char* records,
                      std::uint64_t bytes) noexcept;

}  // namespace tare::recorder
