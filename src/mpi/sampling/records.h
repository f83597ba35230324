// Senders' records of messages that have not been received yet. Bounded: a record for which there is no room is lost.
// Not thread-safe: the sampler locks.
#pragma once

#include "mpi/sampling/mapped_memory.h"
#include "mpi/sampling/message.h"

namespace tare::mpi::sampling {

class Records {
 public:
  static constexpr std::uint32_t capacity = 1U << 16;

  bool empty() const noexcept { return records_.count() == 0; }

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
  // Drops the records of messages `from` to `to` of a channel; returns how many there were.
  std::uint64_t remove(std::uint64_t channel, std::uint64_t from, std::uint64_t to) noexcept {
    std::uint64_t forgotten = 0;
    if (to < from || to - from >= 64) return 0;
    for (std::uint64_t behind = 0; behind <= to - from; ++behind) {
      const std::uint32_t place = find(channel, from + behind);
      if (place == 0) continue;
      remove(place);
      ++forgotten;
    }
    return forgotten;
  }
  // Drops all records; returns how many there were.
  std::uint64_t remove_all() noexcept {
    std::uint64_t forgotten = 0;
    for (std::uint32_t place = 1; place <= records_.last(); ++place) {
      if (!records_.taken(place)) continue;
      remove(place);
      ++forgotten;
    }
    return forgotten;
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

  Places<MessageRecord> records_{capacity};
  PlaceIndex record_index_;
};

}  // namespace tare::mpi::sampling
