// Where things lie in a segment. Who reads one that another process may write to makes one copy of this, checks that
// copy, and never looks at the header's words again: what was checked is what is used.
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
  std::uint64_t locations_at;
  std::uint64_t location_stride;
  RingShape ring;
  std::uint64_t keep_ns;
};

// Of a header in private memory.
SegmentLayout layout_of(const SegmentHeader& header) noexcept;

// Why it cannot be that of a segment in a file of so many bytes; nullptr if it can. Then each of its parts lies in the
// file, but for locations beyond the first, which are added to it as threads start.
const char* fault_of(const SegmentLayout& layout, std::uint64_t file_bytes) noexcept;

}  // namespace tare::format
