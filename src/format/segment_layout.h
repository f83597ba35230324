// The layout of a segment. Another process may write to the segment. So a reader makes one copy of this, checks the
// copy, and does not read the header's words again.
#pragma once

#include <cstdint>

#include "format/segment.h"

namespace tare::format {

struct SegmentLayout {
  std::uint32_t functions;
  std::uint32_t row_capacity;
  std::uint64_t definitions_at;
  std::uint64_t definitions_capacity;
  std::uint64_t requests_at;
  std::uint64_t samples_at;
  std::uint64_t spell_sums_at;
  std::uint64_t offloads_at;
  std::uint64_t stacks_at;
  std::uint64_t files_at;
  std::uint64_t locations_at;
  std::uint64_t location_stride;
  RingShape ring;
  std::uint64_t keep_ns;
};

// The layout of a header in private memory.
SegmentLayout layout_of(const SegmentHeader& header) noexcept;

// Returns nullptr if a segment in a file of so many bytes can have this layout, else the reason. Then all of its parts
// lie in the file, except for locations beyond the first, which are added as threads start.
const char* fault_of(const SegmentLayout& layout, std::uint64_t file_bytes) noexcept;

}  // namespace tare::format
