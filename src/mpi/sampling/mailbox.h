// What one rank tells another of its node about sampled messages: a mailbox in memory that both map. A ring for one
// writer and one reader, in which a record and the word that says it is there are one cache line: telling takes that
// line to the writer, and taking it to the reader. Nobody ever waits.
//
// Every process that maps the memory can write anything into it. So the number of slots is not stored in it: both ends
// know it (`mask`, that number less 1), and nothing that is read from the memory leads out of the mailbox.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "mpi/sampling/memory.h"
#include "mpi/sampling/message.h"
#include "recorder/clock.h"

namespace tare::mpi::sampling {

// Lies before its slots. Zeroed memory is an empty mailbox.
class Mailbox {
 public:
  // Of one with so many slots, a power of two.
  static constexpr std::uint64_t bytes(std::uint32_t slots) noexcept {
    return sizeof(Mailbox) + std::uint64_t{slots} * sizeof(Slot);
  }
  // fill(MessageRecord&) writes all but `start`, a time that is read last: all that is left until the message is sent
  // is its own. False if the mailbox is full. The writer only.
  template <class Fill>
  [[gnu::always_inline]] bool put(std::uint64_t mask, Fill fill) noexcept {
    const std::uint64_t at = put_;
    if (at - seen_ > mask) [[unlikely]] {
      seen_ = taken_.load(std::memory_order_acquire);
      if (at - seen_ > mask) return false;
    }
    Slot& slot = slots()[at & mask];
    fill(slot.record);
    slot.record.start = recorder::now();
    slot.turn.store(at + 1, std::memory_order_release);
    put_ = at + 1;
    fetch_to_write(&slots()[(at + 1) & mask]);  // the reader has had it last
    return true;
  }

  // The oldest record, until pop(); nullptr if there is none. The reader only.
  const MessageRecord* first(std::uint64_t mask) const noexcept {
    const std::uint64_t at = taken_.load(std::memory_order_relaxed);
    const Slot& slot = slots()[at & mask];
    return slot.turn.load(std::memory_order_acquire) == at + 1 ? &slot.record : nullptr;
  }
  // Hands at most as many records as there are slots to each(const MessageRecord&), in order: all that were there. The
  // reader only.
  template <class Each>
  void take_all(std::uint64_t mask, Each each) noexcept {
    for (std::uint64_t taken = 0; taken <= mask; ++taken) {
      const MessageRecord* record = first(mask);
      if (record == nullptr) return;
      each(MessageRecord{*record});
      pop();
    }
  }
  // Where the next record will be.
  const void* next(std::uint64_t mask) const noexcept {
    return &slots()[taken_.load(std::memory_order_relaxed) & mask];
  }
  void pop() noexcept { taken_.store(taken_.load(std::memory_order_relaxed) + 1, std::memory_order_release); }

 private:
  struct alignas(64) Slot {
    MessageRecord record;
    std::atomic<std::uint64_t> turn;  // 1 + the record's place in all that were ever put: it is there
  };
  static_assert(sizeof(Slot) == 64);

  Slot* slots() noexcept { return reinterpret_cast<Slot*>(this + 1); }
  const Slot* slots() const noexcept { return reinterpret_cast<const Slot*>(this + 1); }

  alignas(64) std::uint64_t put_;  // the writer's: records so far,
  std::uint64_t seen_;             // and what it has last seen of taken_
  alignas(64) std::atomic<std::uint64_t> taken_;
};

}  // namespace tare::mpi::sampling
