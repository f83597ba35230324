// The kinds of records, as an event chunk groups them.
#pragma once

#include <cstddef>
#include <cstring>

#include "format/record.h"

namespace tare::format {

// The size of a record by its kind; 0 if the encoder does not know it. `at` must hold a whole RecordHead.
[[gnu::always_inline]] inline std::size_t size_of_record(const char* at, std::size_t available) noexcept {
  RecordHead head;
  std::memcpy(&head, at, sizeof head);
  const std::size_t size = head.words * std::size_t{8};
  if (size > available) return 0;
  if (head.kind < first_other) return size == sizeof(CallRecord) || size == sizeof(ExchangeRecord) ? size : 0;
  switch (head.kind) {
    case completion:
    case foreign_completion:
      return size == sizeof(CompletionRecord) ? size : 0;
    case start:
      return size == sizeof(StartRecord) ? size : 0;
    case flush:
      return size == sizeof(FlushRecord) ? size : 0;
    case loss:
      return size == sizeof(LossRecord) ? size : 0;
    case event:
      return size >= sizeof(EventRecord) && size <= sizeof(EventRecord) + 8 * max_parameters ? size : 0;
    case source_call:
      return size >= sizeof(SourceCallRecord) && size <= sizeof(SourceCallRecord) + 8 * max_parameters ? size : 0;
    case raw_event: {
      RawEventRecord record;
      if (size < sizeof record) return 0;
      std::memcpy(&record, at, sizeof record);
      return record.bytes <= max_raw_bytes && size == sizeof record + (record.bytes + 7) / 8 * 8 ? size : 0;
    }
    default:
      return 0;
  }
}

// Groups of records, in the order of counts and columns in a chunk.
struct RecordGroup {
  enum Number : unsigned { calls, completions, flushes, losses, events, raw_events, starts, source_calls, count };
};
inline unsigned group_of(std::uint16_t kind) noexcept {
  if (kind == foreign_completion) return RecordGroup::completions;
  if (kind == source_call) return RecordGroup::source_calls;
  return kind < first_other ? unsigned{RecordGroup::calls} : kind - first_other;
}

}  // namespace tare::format
