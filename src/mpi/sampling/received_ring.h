// Keeps received messages that may still get a record: those from other nodes, whose record may come after the message,
// and those whose number is not certain. They are in a ring, which holds the last ones; older ones are overwritten.
// Storing a message takes one cache line and no search. The messages of a channel are linked, the last one first. Not
// thread-safe: the sampler locks.
#pragma once

#include "mpi/sampling/mapped_memory.h"
#include "mpi/sampling/receive_channel.h"

namespace tare::mpi::sampling {

// Times of a receive, in ticks.
struct ReceiveTimes {
  std::uint64_t posted;
  std::uint64_t waited;
  std::uint64_t ended;
};

// The data of a received message that pairing needs.
struct Received {
  ReceiveTimes times;
  std::uint64_t number;  // in its channel; never 0
  std::uint64_t bytes;   // format::no_bytes if it is not known
  std::uint32_t site;
  bool ambiguous;
};

class ReceivedRing {
 public:
  static constexpr std::uint32_t capacity = 1U << 12;

  // Keeps a message of the channel at `place`. `expected`: a record of it must come. True if a message with that mark
  // was overwritten.
  bool keep(std::uint32_t place, ReceiveChannel& channel, const Received& received, bool expected) noexcept {
    if (ring_ == nullptr) [[unlikely]]
      reserve();
    if (ring_ == nullptr) [[unlikely]]
      return expected;
    Entry& entry = ring_[++turn_ % capacity];
    const bool forgets = entry.expected && entry.received.number != 0;
    entry = {received, place, turn_, channel.kept, expected};
    channel.kept = turn_;
    return forgets;
  }
  // How many messages were ever kept.
  std::uint32_t turn() const noexcept { return turn_; }

  // Whether there may be messages of the channel.
  bool may_have(const ReceiveChannel& channel) const noexcept {
    return channel.kept != 0 && turn_ - channel.kept < capacity;
  }
  // Takes the message with that number in the channel; false if it is not there.
  bool take(std::uint32_t place, const ReceiveChannel& channel, std::uint64_t number, Received& received) noexcept {
    Entry* entry = find(place, channel, number);
    if (entry == nullptr) return false;
    received = entry->received;
    entry->received.number = 0;
    return true;
  }
  bool has(std::uint32_t place, const ReceiveChannel& channel, std::uint64_t number) const noexcept {
    return find(place, channel, number) != nullptr;
  }

  // Messages whose record must come and has not.
  std::uint64_t expecting() const noexcept {
    std::uint64_t count = 0;
    for (std::uint32_t i = 0; ring_ != nullptr && i < capacity; ++i)
      if (ring_[i].expected && ring_[i].received.number != 0) ++count;
    return count;
  }

 private:
  struct alignas(64) Entry {
    Received received;
    std::uint32_t channel;  // the place of its channel
    std::uint32_t turn;     // the number of this message among all
    std::uint32_t before;   // the number of the message before it in its channel
    bool expected;
  };
  static_assert(sizeof(Entry) == 64);

  Entry* find(std::uint32_t place, const ReceiveChannel& channel, std::uint64_t number) const noexcept {
    for (std::uint32_t turn = channel.kept; turn_ - turn < capacity && ring_ != nullptr;) {
      Entry& entry = ring_[turn % capacity];
      if (entry.turn != turn || entry.channel != place) return nullptr;
      if (entry.received.number == number) return &entry;
      turn = entry.before;
    }
    return nullptr;
  }
  [[gnu::cold, gnu::noinline]] void reserve() noexcept {
    const recorder::ErrnoGuard guard;
    ring_ = static_cast<Entry*>(recorder::map_memory(sizeof(Entry) * capacity));
  }

  Entry* ring_ = nullptr;
  std::uint32_t turn_ = 0;
};

}  // namespace tare::mpi::sampling
