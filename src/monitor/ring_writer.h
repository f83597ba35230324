// The process's end of the ring of snapshots (format/offload_ring.h). What the other end says of itself is only
// compared: nothing that it writes makes this one write beyond the ring.
#pragma once

#include <cstdint>

#include "format/monitor_spec.h"
#include "format/offload_ring.h"

namespace tare::monitor {

class RingWriter {
 public:
  // `entries`: what lies behind the ring in the segment.
  void begin(format::OffloadRing& ring, const format::MonitorSpec& spec) noexcept;

  // Where an entry of `bytes`, a multiple of 8, is to be put; nullptr if there is no room for it, and what the policy
  // does about that has been done and counted.
  char* reserve(std::uint64_t bytes) noexcept;
  // The entry that was reserved last is whole: the reader may have it.
  void publish() noexcept;

  format::OffloadAccount& account() noexcept { return ring_->account; }

 private:
  char* place(std::uint64_t bytes) noexcept;
  bool waits() noexcept;

  format::OffloadRing* ring_ = nullptr;
  char* entries_ = nullptr;
  std::uint64_t bytes_ = 0;  // of the ring: its header is in memory that others may write to
  std::uint64_t head_ = 0;
  std::uint64_t written_ = 0;
  std::uint64_t reserved_ = 0;  // position behind the reserved entry
  format::MonitorPolicy policy_{};
  std::uint64_t depth_ = 0;
  std::uint64_t wait_ns_ = 0;
  std::uint64_t waited_in_vain_ = UINT64_MAX;  // OffloadRing::taken when the reader did not come in time
};

}  // namespace tare::monitor
