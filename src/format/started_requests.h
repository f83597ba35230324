// The requests that calls of one chunk started, for the encoder to name the start of each completion.
#pragma once

#include <cstddef>
#include <cstdint>

#include "format/event_codec.h"

namespace tare::format {

// What in this chunk started each request. Several may be under way with the same number, as MPI gives sends that are
// complete at once the same handle: who completes takes the latest that nobody has taken.
struct StartedRequests {
  struct Slot {
    std::uint32_t request;  // 0: empty
    std::uint16_t latest;   // 1 + the start; 0: all of them have been taken
  };
  static constexpr std::size_t slots_count = 2 * chunk_records;
  Slot slots[slots_count];
  std::uint16_t used[chunk_records];    // slot of each start
  std::uint16_t before[chunk_records];  // of each start: `latest` without it
  std::uint32_t starts;

  void clear() noexcept {
    for (std::uint32_t i = 0; i < starts; ++i) slots[used[i]] = {};
    starts = 0;
  }
  Slot& slot(std::uint32_t request) noexcept {
    std::size_t at = (request * 0x9e3779b9U) >> 18;
    static_assert(slots_count == std::size_t{1} << (32 - 18));
    while (slots[at].request != 0 && slots[at].request != request) at = (at + 1) % slots_count;
    return slots[at];
  }
  void start(std::uint32_t request) noexcept {
    Slot& s = slot(request);
    before[starts] = s.latest;
    used[starts++] = static_cast<std::uint16_t>(&s - slots);
    s = {request, static_cast<std::uint16_t>(starts)};
  }
  // 1 + the start that has completed; 0 if that was not in this chunk.
  std::uint32_t complete(std::uint32_t request) noexcept {
    Slot& s = slot(request);
    const std::uint16_t latest = s.latest;
    if (latest != 0) s.latest = before[latest - 1];
    return latest;
  }
};

}  // namespace tare::format
