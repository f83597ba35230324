// Numbers of fields of Perfetto's protobufs, from protos/perfetto/trace in its source. They never change.
#pragma once

#include <cstdint>

namespace tare::exporters::perfetto {

namespace trace {
inline constexpr std::uint32_t packet = 1;
}
namespace trace_packet {
inline constexpr std::uint32_t clock_snapshot = 6, timestamp = 8, trusted_packet_sequence_id = 10, track_event = 11,
                               interned_data = 12, sequence_flags = 13, track_descriptor = 60;
inline constexpr std::uint32_t incremental_state_cleared = 1, needs_incremental_state = 2;  // sequence_flags
}  // namespace trace_packet
namespace clock_snapshot {
inline constexpr std::uint32_t clocks = 1, clock_id = 1, timestamp = 2;  // the last two of a clock
inline constexpr std::uint32_t realtime = 1, boottime = 6;               // clock_id; the latter is that of timestamps
}  // namespace clock_snapshot
namespace track_descriptor {
inline constexpr std::uint32_t uuid = 1, name = 2, process = 3, thread = 4, parent_uuid = 5, counter = 8;
}
namespace process_descriptor {
inline constexpr std::uint32_t pid = 1, cmdline = 2, legacy_sort_index = 3, process_name = 6, process_labels = 8;
}
namespace thread_descriptor {
inline constexpr std::uint32_t pid = 1, tid = 2, legacy_sort_index = 3, thread_name = 5;
}
namespace counter_descriptor {
inline constexpr std::uint32_t unit_name = 6;
}
namespace track_event {
inline constexpr std::uint32_t category_iids = 3, debug_annotations = 4, type = 9, name_iid = 10, track_uuid = 11,
                               source_location_iid = 34, double_counter_value = 44, flow_ids = 47,
                               terminating_flow_ids = 48;
enum Type : std::uint32_t { slice_begin = 1, slice_end = 2, instant = 3, counter = 4 };
}  // namespace track_event
namespace debug_annotation {
inline constexpr std::uint32_t name_iid = 1, uint_value = 3, int_value = 4, double_value = 5, string_value = 6,
                               array_values = 12, string_value_iid = 17;
}
namespace interned_data {
inline constexpr std::uint32_t event_categories = 1, event_names = 2, debug_annotation_names = 3, source_locations = 4,
                               debug_annotation_string_values = 29;
inline constexpr std::uint32_t iid = 1, name = 2;  // of an entry; of a string value `str`
inline constexpr std::uint32_t file_name = 2, function_name = 3, line_number = 4;  // of a source location
}  // namespace interned_data

}  // namespace tare::exporters::perfetto
