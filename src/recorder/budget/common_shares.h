// What the ranks of a node agree on for the spells of a budget (recorder/spells.h): the least share that one of them
// can afford.
//
// At the begin of a spell each rank says what it can afford in the next, and takes for this one the least of what all
// said at the begin of the last. All have said it by then: no rank leaves the passage that begins a spell before all
// have come to it, and so have begun the spell before. So all read the same, without a message.
#pragma once

#include <atomic>
#include <cstdint>

#include "recorder/budget/governor.h"

namespace tare::recorder {

// In memory that the processes of a node share. Zero-initialised.
class CommonShares {
 public:
  // Of the spell, which nobody has begun yet.
  void offer(std::uint32_t spell, Governor::Shares shares) noexcept;
  // Of the spell, which begins. Of the first, of which nobody could have said anything: all.
  Governor::Shares of(std::uint32_t spell) const noexcept;

 private:
  // One spell is read while the next is offered; a rank may be one passage behind.
  static constexpr unsigned slots = 4;
  std::atomic<std::uint64_t> words_[slots];  // the spell, and both shares in units of 1 / 65535
};

}  // namespace tare::recorder
