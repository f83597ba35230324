// The shares of spells that the ranks of a node agree on, for a budget (recorder/spells.h): the least that any of them
// can afford.
//
// When spell n begins, each rank offers what it can afford in spell n + 1, and takes for spell n the minimum of what
// all ranks offered when spell n - 1 began. All offers are there by then: no rank leaves the synchronisation point that
// begins spell n before all ranks have reached it, and each has begun spell n - 1 before. So all ranks read the same,
// without a message.
#pragma once

#include <atomic>
#include <cstdint>

#include "recorder/budget/governor.h"

namespace tare::recorder {

// In memory that the processes of a node share. Zero-initialised.
class CommonShares {
 public:
  // Offers shares for a spell that no rank has begun yet.
  void offer(std::uint32_t spell, Governor::Shares shares) noexcept;
  // The minimum of the offers for the spell that begins. For the first spell, which has no offers: {1, 1}.
  Governor::Shares of(std::uint32_t spell) const noexcept;

 private:
  // One spell is read while the next is offered, and a rank may be one synchronisation point behind.
  static constexpr unsigned slots = 4;
  std::atomic<std::uint64_t> words_[slots];  // number of the spell, and both shares in units of 1 / 65535
};

}  // namespace tare::recorder
