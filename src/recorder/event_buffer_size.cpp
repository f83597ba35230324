#include "recorder/event_buffer_size.h"

#include <algorithm>

#include "format/event_codec.h"

namespace tare::recorder {
namespace {

static_assert(own_sub_buffer / sizeof(format::CompletionRecord) <= format::chunk_records);
constexpr std::uint64_t min_sub_buffer = 4 * 1024;  // room for the longest record and a LossRecord

std::uint64_t default_bytes(format::Policy policy, bool has_tared, bool has_budget) noexcept {
  if (policy == format::Policy::overwrite) return default_flight_recorder;
  if (has_tared) return default_event_buffer_with_tared;
  return has_budget ? default_event_buffer_with_budget : default_event_buffer;
}

}  // namespace

// tared drains whole sub-buffers, overwriting takes whole ones, and so does a thread that ends. For these, the buffer
// has more and smaller sub-buffers.
format::RingShape ring_of(std::uint64_t bytes, format::Policy policy, bool has_tared, bool has_budget) noexcept {
  if (bytes == 0) bytes = default_bytes(policy, has_tared, has_budget);
  bytes = std::min(bytes, UINT32_MAX * usual_sub_buffer);
  const bool own = policy == format::Policy::block && !has_tared;
  std::uint64_t each = bytes / (own ? 2 : 8);
  each = each / sizeof(format::SubBufferHead) * sizeof(format::SubBufferHead);
  each = std::clamp(each, min_sub_buffer, own ? own_sub_buffer : usual_sub_buffer);
  const std::uint64_t count = bytes < 2 * each ? 2 : bytes / each;
  return {static_cast<std::uint32_t>(count), static_cast<std::uint32_t>(each), policy};
}

}  // namespace tare::recorder
