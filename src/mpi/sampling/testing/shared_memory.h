// For tests: records, mailboxes and memory as ranks of a node share them.
#pragma once

#include <cstdlib>
#include <cstring>

#include "mpi/sampling/mailbox.h"

namespace tare::mpi::sampling::testing {

inline MessageRecord record(std::uint64_t channel, std::uint64_t number, std::uint64_t bytes = 8) {
  return {channel, number, 100, bytes, RecordKind::message, 1, 0, 1, 0, 0};
}

inline bool put(Mailbox& mailbox, std::uint64_t mask, std::uint64_t channel, std::uint64_t number) {
  return mailbox.put(mask, [&](MessageRecord& slot) { slot = record(channel, number); });
}

// Zeroed memory, aligned as mapped memory is.
class Memory {
 public:
  explicit Memory(std::size_t bytes) : at_(std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096)) {
    std::memset(at_, 0, bytes);
  }
  ~Memory() { std::free(at_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  void* at() const { return at_; }

 private:
  void* at_;
};

}  // namespace tare::mpi::sampling::testing
