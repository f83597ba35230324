// Pairs received messages with what their senders said of them, whichever comes first. Bounded: a record that finds
// no room is lost, a received message makes room by forgetting the oldest. Not thread-safe: the sampler locks.
#pragma once

#include "mpi/sampling/memory.h"
#include "mpi/sampling/message.h"

namespace tare::mpi::sampling {

// A received message, as far as pairing needs it.
struct Received {
  std::uint64_t channel;
  std::uint64_t number;
  std::uint64_t posted;  // ticks
  std::uint64_t waited;
  std::uint64_t ended;
  std::uint64_t ended_ns;  // CLOCK_MONOTONIC_RAW, between nodes
  std::uint64_t bytes;
  std::uint32_t site;
  std::int32_t tag;
  std::uint32_t communicator;
  bool ambiguous;
  bool expected;  // by the coordinated rule its record should come
};

class Pairing {
 public:
  static constexpr std::uint32_t record_capacity = 1U << 16;
  static constexpr std::uint32_t waiting_capacity = 1U << 12;

  bool empty() const noexcept { return records_.count() == 0; }
  std::uint32_t records() const noexcept { return records_.count(); }

  // Keeps a record; false if there is no room.
  bool keep(const MessageRecord& record) noexcept {
    const std::uint32_t place = records_.take();
    if (place == 0) return false;
    records_[place] = record;
    if (record_index_.put(hash(record.channel, record.number), place)) return true;
    records_.give_back(place);
    return false;
  }
  // Takes the record of a message; false if it is not there.
  bool take(std::uint64_t channel, std::uint64_t number, MessageRecord& record) noexcept {
    const std::uint32_t place = find(channel, number);
    if (place == 0) return false;
    record = records_[place];
    remove(place);
    return true;
  }
  // Forgets the records of messages `from` to `to` of a channel; gives how many there were.
  std::uint64_t forget(std::uint64_t channel, std::uint64_t from, std::uint64_t to) noexcept {
    std::uint64_t forgotten = 0;
    for (std::uint64_t number = from; number <= to && to - from < 64; ++number) {
      const std::uint32_t place = find(channel, number);
      if (place == 0) continue;
      remove(place);
      ++forgotten;
    }
    return forgotten;
  }
  // Forgets all records; gives how many there were.
  std::uint64_t forget_all() noexcept {
    std::uint64_t forgotten = 0;
    for (std::uint32_t place = 1; place <= records_.last(); ++place) {
      if (!records_.taken(place)) continue;
      remove(place);
      ++forgotten;
    }
    return forgotten;
  }

  // Keeps a received message until its record comes; true if the oldest that was expected to get one had to go.
  bool wait(const Received& received) noexcept {
    if (waiting_ == nullptr) {
      const recorder::ErrnoGuard guard;
      waiting_ = static_cast<Received*>(recorder::map_memory(sizeof(Received) * waiting_capacity));
      if (waiting_ == nullptr) return received.expected;
    }
    const std::uint32_t place = next_;
    next_ = place + 1 == waiting_capacity ? 1 : place + 1;  // place 0 is none
    bool forgotten = false;
    if (waiting_[place].channel != 0) {
      forgotten = waiting_[place].expected;
      waiting_index_.remove(hash(waiting_[place].channel, waiting_[place].number), place);
    }
    waiting_[place] = received;
    if (!waiting_index_.put(hash(received.channel, received.number), place)) waiting_[place].channel = 0;
    return forgotten;
  }
  // Takes the received message that a record belongs to; false if it has not come yet.
  bool take(const MessageRecord& record, Received& received) noexcept {
    const std::uint64_t h = hash(record.channel, record.number);
    const std::uint32_t place = waiting_index_.find(h, [&](std::uint32_t at) {
      return waiting_[at].channel == record.channel && waiting_[at].number == record.number;
    });
    if (place == 0) return false;
    received = waiting_[place];
    waiting_index_.remove(h, place);
    waiting_[place].channel = 0;
    return true;
  }
  // Received messages that were expected to get a record and still have none.
  std::uint64_t expecting() const noexcept {
    std::uint64_t count = 0;
    for (std::uint32_t place = 1; waiting_ != nullptr && place < waiting_capacity; ++place)
      if (waiting_[place].channel != 0 && waiting_[place].expected) ++count;
    return count;
  }

 private:
  static std::uint64_t hash(std::uint64_t channel, std::uint64_t number) noexcept {
    return mix(channel + number * 0x9e3779b97f4a7c15U);
  }
  std::uint32_t find(std::uint64_t channel, std::uint64_t number) const noexcept {
    return record_index_.find(hash(channel, number), [&](std::uint32_t place) {
      return records_[place].channel == channel && records_[place].number == number;
    });
  }
  void remove(std::uint32_t place) noexcept {
    record_index_.remove(hash(records_[place].channel, records_[place].number), place);
    records_.give_back(place);
  }

  Places<MessageRecord> records_{record_capacity};
  PlaceIndex record_index_;
  Received* waiting_ = nullptr;
  std::uint32_t next_ = 1;
  PlaceIndex waiting_index_;
};

}  // namespace tare::mpi::sampling
