#include "format/segment_layout.h"

#include "format/file_table.h"
#include "format/offload_ring.h"
#include "format/sample.h"
#include "format/spell_sums.h"
#include "format/stack_samples.h"

namespace tare::format {
namespace {

constexpr std::uint32_t max_rows = 65536;                      // a row number has 16 bits
constexpr std::uint64_t max_stride = std::uint64_t{1} << 40U;  // still a position if multiplied by 2^16 blocks

// Whether `bytes` bytes from `at` on lie in a file of `end` bytes, after the header.
bool lies_within(std::uint64_t at, std::uint64_t bytes, std::uint64_t end) noexcept {
  return at >= segment_header_bytes && at <= end && bytes <= end - at;
}

}  // namespace

SegmentLayout layout_of(const SegmentHeader& header) noexcept {
  return {header.functions,   header.row_capacity, header.definitions_at, header.definitions_capacity,
          header.requests_at, header.samples_at,   header.spell_sums_at,  header.offloads_at,
          header.stacks_at,   header.files_at,     header.locations_at,   header.location_stride,
          header.ring,        header.keep_ns};
}

const char* fault_of(const SegmentLayout& layout, std::uint64_t file_bytes) noexcept {
  if (layout.functions >= max_functions) return "it has more functions than there are";
  if (!lies_within(layout.definitions_at, layout.definitions_capacity, file_bytes))
    return "the definition log lies outside the file";
  if (layout.requests_at != 0 && !lies_within(layout.requests_at, sizeof(RequestTable), file_bytes))
    return "the request table lies outside the file";
  if (!lies_within(layout.locations_at, 0, file_bytes) || layout.locations_at % 64 != 0)
    return "the locations lie outside the file";
  if (layout.samples_at != 0 && !lies_within(layout.samples_at, sizeof(SampleSummary), layout.locations_at))
    return "the samples lie outside the file";
  if (layout.spell_sums_at != 0 && (!lies_within(layout.spell_sums_at, sizeof(SpellSumsTable), layout.locations_at) ||
                                    layout.spell_sums_at % 8 != 0))
    return "the sums of spells lie outside the file";
  if (layout.offloads_at != 0 &&
      (!lies_within(layout.offloads_at, sizeof(OffloadRing), layout.locations_at) || layout.offloads_at % 64 != 0))
    return "the snapshots lie outside the file";
  if (layout.stacks_at != 0 &&
      (!lies_within(layout.stacks_at, stack_samples_bytes, layout.locations_at) || layout.stacks_at % 8 != 0))
    return "the stack samples lie outside the file";
  if (layout.files_at != 0 &&
      (!lies_within(layout.files_at, sizeof(FileTable), layout.locations_at) || layout.files_at % 8 != 0))
    return "the table of files lies outside the file";
  if (layout.row_capacity == 0 || layout.row_capacity > max_rows || layout.location_stride > max_stride ||
      layout.location_stride % 64 != 0)
    return "a location block has an impossible size";
  const RingShape& ring = layout.ring;
  if (ring.count != 0 && (ring.bytes == 0 || ring.bytes % sizeof(std::uint64_t) != 0 ||
                          static_cast<std::uint32_t>(ring.policy) > static_cast<std::uint32_t>(Policy::overwrite)))
    return "the event buffer has an impossible shape";
  const std::uint64_t spans = layout.offloads_at == 0 ? 0 : sizeof(SpanEntry) * span_capacity;
  const std::uint64_t fixed = buffer_at(layout.row_capacity) + spans;
  if (layout.location_stride < fixed ||
      (ring.count != 0 && ring.stride() > (layout.location_stride - fixed) / ring.count))
    return "a location block is smaller than its parts";
  return nullptr;
}

}  // namespace tare::format
