// What ranks of a node tell one another about sampled messages: each has a mailbox in memory that all of them map. A
// ring for many writers and one reader, without locks; a writer that dies in the middle stops the ring for good, which
// only loses records. Nobody ever waits.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "mpi/sampling/message.h"
#include "recorder/clock.h"

namespace tare::mpi::sampling {

// Zeroed memory is an empty mailbox.
class Mailbox {
 public:
  static constexpr std::uint64_t capacity = 4096;

  // The time in `start` is read when the rest of the record is there, and the memory that it took near: all that is
  // left until the message is sent is its own. False if the mailbox is full. Thread-safe.
  bool put(const MessageRecord& record) noexcept {
    std::uint64_t at = head_.load(std::memory_order_relaxed);
    for (;;) {
      Slot& slot = slots_[at % capacity];
      // A slot is free for place `at` when its turn is twice the rounds before it, and taken at one more.
      const std::uint64_t turn = slot.turn.load(std::memory_order_acquire);
      const std::uint64_t round = 2 * (at / capacity);
      if (turn == round) {
        if (!head_.compare_exchange_weak(at, at + 1, std::memory_order_relaxed)) continue;
        slot.record = record;
        slot.record.start = recorder::now();
        slot.turn.store(round + 1, std::memory_order_release);
        return true;
      }
      if (turn < round) return false;  // not yet read in the round before
      at = head_.load(std::memory_order_relaxed);
    }
  }

  // Says that what was put before may be wrong; for a writer that finds no room to retract it.
  void distrust() noexcept { doubts_.fetch_add(1, std::memory_order_release); }
  // How often that was said.
  std::uint32_t doubts() const noexcept { return doubts_.load(std::memory_order_acquire); }

  // Whether there may be something to take. The reader only.
  bool waiting() const noexcept { return head_.load(std::memory_order_acquire) != tail_; }

  // Takes the oldest record; false if there is none. The reader only.
  bool take(MessageRecord& record) noexcept {
    Slot& slot = slots_[tail_ % capacity];
    const std::uint64_t round = 2 * (tail_ / capacity);
    if (slot.turn.load(std::memory_order_acquire) != round + 1) return false;
    record = slot.record;
    slot.turn.store(round + 2, std::memory_order_release);
    ++tail_;
    return true;
  }

 private:
  struct alignas(64) Slot {
    std::atomic<std::uint64_t> turn;
    MessageRecord record;
  };
  static_assert(sizeof(Slot) == 64);

  alignas(64) std::atomic<std::uint64_t> head_;
  std::atomic<std::uint32_t> doubts_;
  alignas(64) std::uint64_t tail_;
  alignas(64) Slot slots_[capacity];
};

}  // namespace tare::mpi::sampling
