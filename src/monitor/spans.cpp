#include "monitor/spans.h"

#include <utility>

namespace tare::monitor {

using recorder::SpanEvent;

bool note_span(recorder::Location& location, SpanEvent event, std::uint32_t type, std::uint64_t value) noexcept {
  if (type >= format::span_capacity || location.mode == recorder::Mode::paused) return false;
  if (type >= location.spans_used) location.spans_used = type + 1;
  format::SpanEntry& span = location.spans[type];
  if (event == SpanEvent::count) {
    ++span.entries;
    span.value = value;
    return false;
  }
  if (event == SpanEvent::enter) {
    ++span.entries;
    if (span.depth++ != 0) return false;
    span.since = recorder::now();
    return true;
  }
  if (span.depth == 0 || --span.depth != 0) return false;
  span.ticks += recorder::now() - std::exchange(span.since, 0);
  return false;
}

}  // namespace tare::monitor
