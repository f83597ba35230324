// The requests that calls of one chunk started, for the encoder to name the start of each completion.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "format/event_codec.h"

namespace tare::format {

// The start of each request of this chunk. Several requests with the same number may be under way, because MPI gives
// sends that are complete at once the same handle. A completion takes the latest start that was not taken.
// Zero-initialised.
struct StartedRequests {
  struct Slot {
    std::uint32_t request;
    std::uint16_t latest;  // 1 + the start; 0: all were taken
    std::uint16_t chunk;   // the chunk that the slot was used for; in another one, it is empty
  };
  static constexpr unsigned slots_bits = std::bit_width(chunk_records);
  static constexpr std::size_t slots_count = std::size_t{1} << slots_bits;
  static_assert(slots_count >= 2 * chunk_records && chunk_records < UINT16_MAX);
  Slot slots[slots_count];
  std::uint16_t before[chunk_records];  // by start: the value of `latest` before it
  std::uint32_t starts;
  std::uint16_t chunk;  // never 0, once cleared

  void clear() noexcept {
    starts = 0;
    if (++chunk != 0) return;
    std::memset(slots, 0, sizeof slots);  // otherwise slots of 65,535 chunks ago would look used
    chunk = 1;
  }
  void start(std::uint32_t request) noexcept {
    Slot& s = slot(request);
    before[starts] = s.latest;
    s.latest = static_cast<std::uint16_t>(++starts);
  }
  // Takes the start of a request that has completed: 1 + the start, or 0 if it was not in this chunk.
  std::uint32_t complete(std::uint32_t request) noexcept {
    Slot& s = slot(request);
    const std::uint16_t latest = s.latest;
    if (latest != 0) s.latest = before[latest - 1];
    return latest;
  }

 private:
  // There may be as many requests that only complete here as requests that start. Then half of the slots stay empty.
  Slot& slot(std::uint32_t request) noexcept {
    std::size_t at = (request * 0x9e3779b9U) >> (32 - slots_bits);
    while (slots[at].chunk == chunk && slots[at].request != request) at = (at + 1) % slots_count;
    if (slots[at].chunk != chunk) slots[at] = {request, 0, chunk};
    return slots[at];
  }
};

}  // namespace tare::format
