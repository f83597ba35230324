// The requests that calls of one chunk started, for the encoder to name the start of each completion.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "format/event_codec.h"

namespace tare::format {

// What in this chunk started each request. Several may be under way with the same number, as MPI gives sends that are
// complete at once the same handle: who completes takes the latest that nobody has taken. Zero-initialised.
struct StartedRequests {
  struct Slot {
    std::uint32_t request;
    std::uint16_t latest;  // 1 + the start; 0: all of them have been taken
    std::uint16_t chunk;   // that it was used for; of another one, it is empty
  };
  static constexpr unsigned slots_bits = std::bit_width(chunk_records);
  static constexpr std::size_t slots_count = std::size_t{1} << slots_bits;
  static_assert(slots_count >= 2 * chunk_records && chunk_records < UINT16_MAX);
  Slot slots[slots_count];
  std::uint16_t before[chunk_records];  // of each start: `latest` without it
  std::uint32_t starts;
  std::uint16_t chunk;  // never 0, once cleared

  void clear() noexcept {
    starts = 0;
    if (++chunk != 0) return;
    std::memset(slots, 0, sizeof slots);  // what was left in them 65,535 chunks ago
    chunk = 1;
  }
  void start(std::uint32_t request) noexcept {
    Slot& s = slot(request);
    before[starts] = s.latest;
    s.latest = static_cast<std::uint16_t>(++starts);
  }
  // 1 + the start that has completed; 0 if that was not in this chunk.
  std::uint32_t complete(std::uint32_t request) noexcept {
    Slot& s = slot(request);
    const std::uint16_t latest = s.latest;
    if (latest != 0) s.latest = before[latest - 1];
    return latest;
  }

 private:
  // Of requests that only complete here there may be as many as of those that start: half of the slots stay empty.
  Slot& slot(std::uint32_t request) noexcept {
    std::size_t at = (request * 0x9e3779b9U) >> (32 - slots_bits);
    while (slots[at].chunk == chunk && slots[at].request != request) at = (at + 1) % slots_count;
    if (slots[at].chunk != chunk) slots[at] = {request, 0, chunk};
    return slots[at];
  }
};

}  // namespace tare::format
