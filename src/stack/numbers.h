// Assigns numbers to keys, in order of first appearance, from 1. Of fixed size. Takes a lock for a moment.
#pragma once

#include <cstdint>
#include <cstring>

#include "recorder/system.h"

namespace tare::stack {

template <std::uint32_t capacity>
class Numbers {
 public:
  // The number of a key, which must not be 0. `is_new`: this call has assigned it. 0 if the table is full.
  std::uint32_t number_of(std::uint64_t key, bool& is_new) noexcept {
    const recorder::Locked locked(lock_);
    const std::uint32_t slot = slot_of(key);
    is_new = slots_[slot].number == 0 && last_ < capacity / 4 * 3;
    if (is_new) slots_[slot] = {key, ++last_};
    return slots_[slot].number;
  }

  // The number that a key has; 0: none.
  std::uint32_t find(std::uint64_t key) noexcept {
    const recorder::Locked locked(lock_);
    return slots_[slot_of(key)].number;
  }

  // For a forked child.
  void clear() noexcept {
    lock_.reset();
    if (last_ != 0) std::memset(slots_, 0, sizeof slots_);
    last_ = 0;
  }

 private:
  struct Slot {
    std::uint64_t key;
    std::uint32_t number;  // 0: empty
  };
  // Where the key is, or would be.
  std::uint32_t slot_of(std::uint64_t key) const noexcept {
    std::uint32_t slot = static_cast<std::uint32_t>((key * 0x9e3779b97f4a7c15U) >> 40) % capacity;
    while (slots_[slot].number != 0 && slots_[slot].key != key) slot = (slot + 1) % capacity;
    return slot;
  }
  Slot slots_[capacity]{};
  std::uint32_t last_ = 0;
  recorder::SpinLock lock_;
};

}  // namespace tare::stack
