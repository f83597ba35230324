// A mailbox: how one rank passes records of sampled messages to another rank of its node, in memory that both map. It
// is a ring for one writer and one reader that never waits. A record and the word that marks it as present are one
// cache line. So the writer fetches one line, and the reader another.
//
// Every process that maps the memory can write anything into it. So the number of slots is not stored there. Both ends
// know it (`mask` is that number less 1), and no value read from the memory leads outside of the mailbox.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "mpi/sampling/mapped_memory.h"
#include "mpi/sampling/message.h"
#include "recorder/clock.h"

namespace tare::mpi::sampling {

// The head of a mailbox; its slots follow. Zeroed memory is an empty mailbox.
class Mailbox {
 public:
  // The size of a mailbox with so many slots, a power of two.
  static constexpr std::uint64_t bytes(std::uint32_t slots) noexcept {
    return sizeof(Mailbox) + std::uint64_t{slots} * sizeof(Slot);
  }
  // fill(MessageRecord&) writes all but `start`. That time is read last, as close to the send as possible. False if the
  // mailbox is full. Only for the writer.
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
    fetch_to_write(&slots()[(at + 1) & mask]);  // the reader had the line last
    return true;
  }

  // The reader, if it has not taken the last record yet, will look for a retraction of it. Only for the writer.
  void make_last_not_final(std::uint64_t mask) noexcept {
    if (put_ != 0) std::atomic_ref(slots()[(put_ - 1) & mask].record.final).store(0, std::memory_order_release);
  }

  // The oldest record, which stays until pop(); nullptr if there is none. Only for the reader.
  const MessageRecord* first(std::uint64_t mask) const noexcept {
    const std::uint64_t at = taken_.load(std::memory_order_relaxed);
    const Slot& slot = slots()[at & mask];
    return slot.turn.load(std::memory_order_acquire) == at + 1 ? &slot.record : nullptr;
  }
  // Passes the records that are there to each(const MessageRecord&), in order, at most as many as there are slots. Only
  // for the reader.
  template <class Each>
  void take_all(std::uint64_t mask, Each each) noexcept {
    for (std::uint64_t taken = 0; taken <= mask; ++taken) {
      const MessageRecord* record = first(mask);
      if (record == nullptr) return;
      each(MessageRecord{*record});
      pop();
    }
  }
  // The place of the next record.
  const void* next(std::uint64_t mask) const noexcept {
    return &slots()[taken_.load(std::memory_order_relaxed) & mask];
  }
  void pop() noexcept { taken_.store(taken_.load(std::memory_order_relaxed) + 1, std::memory_order_release); }

 private:
  struct alignas(64) Slot {
    MessageRecord record;
    std::atomic<std::uint64_t> turn;  // 1 + the number of the record; set when the record is complete
  };
  static_assert(sizeof(Slot) == 64);

  Slot* slots() noexcept { return reinterpret_cast<Slot*>(this + 1); }
  const Slot* slots() const noexcept { return reinterpret_cast<const Slot*>(this + 1); }

  alignas(64) std::uint64_t put_;  // for the writer: the number of records so far,
  std::uint64_t seen_;             // and the value of taken_ that it read last
  alignas(64) std::atomic<std::uint64_t> taken_;
};

}  // namespace tare::mpi::sampling
