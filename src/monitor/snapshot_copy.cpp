#include "monitor/snapshot_copy.h"

#include <algorithm>
#include <atomic>
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

using format::Sums;

// The program's data have evicted the profile between two offloads, so rows are prefetched so far ahead.
constexpr std::uint32_t rows_ahead = 16;

Extent extent_of(const recorder::Location& location) noexcept {
  format::LocationSummary& summary = location.shared().summary;
  return {std::atomic_ref(summary.rows).load(std::memory_order_acquire),
          std::atomic_ref(summary.phases).load(std::memory_order_acquire), location.spans_used};
}

// Not instrumented: race detectors would report these reads. They are intended; aligned words are read whole.
__attribute__((no_sanitize("thread"))) char* copy_section(const recorder::Location& location, const Extent& extent,
                                                          std::uint64_t ticks, char* out) noexcept {
  *reinterpret_cast<format::SectionHead*>(out) = {location.shared().block, extent.rows, extent.phases, extent.spans};
  auto* sums = reinterpret_cast<Sums*>(out + sizeof(format::SectionHead));
  const format::ProfileRow* row = location.profile.rows;
  const auto expect = [&row, &sums](std::uint32_t i) {
    __builtin_prefetch(reinterpret_cast<const char*>(row + i));
    __builtin_prefetch(reinterpret_cast<const char*>(row + i) + 64);
    if (i % 2 == 0) __builtin_prefetch(sums + i, 1);
  };
  const std::uint32_t ahead = std::min(extent.rows, rows_ahead);
  for (std::uint32_t i = 0; i < ahead; ++i) expect(i);
  for (std::uint32_t i = 0; i < extent.rows; ++i, ++row) {
    if (i + rows_ahead < extent.rows) expect(rows_ahead);
    *sums++ = {row->calls, row->ticks, row->bytes};
  }
  // An open visit counts up to now, whichever thread it is in.
  const auto since = [ticks](std::uint64_t begin) { return ticks > begin ? ticks - begin : 0; };
  const format::LocationSummary& summary = location.shared().summary;
  const format::PhaseEntry* phase = location.shared().phases;
  for (std::uint32_t i = 0; i < extent.phases; ++i, ++phase) {
    const std::uint64_t open = i == summary.phase && summary.in_use != 0 ? since(summary.phase_since) : 0;
    *sums++ = {phase->entries, phase->ticks + open, phase->bytes};
  }
  const format::SpanEntry* span = location.spans;
  for (std::uint32_t i = 0; i < extent.spans; ++i, ++span) {
    const std::uint64_t begin = span->since;
    *sums++ = {span->entries, span->ticks + (begin == 0 ? 0 : since(begin)), span->value};
  }
  return reinterpret_cast<char*>(sums);
}

}  // namespace tare::monitor
