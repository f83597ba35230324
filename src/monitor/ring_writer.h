// The writer's end of the ring of snapshots (format/offload_ring.h). What the other end writes is only compared with,
// so it cannot make this end write outside of the ring.
#pragma once

#include <cstdint>

#include "format/monitor_spec.h"
#include "format/offload_ring.h"

namespace tare::monitor {

class RingWriter {
 public:
  // `entries`: the memory after the ring's header in the segment.
  void begin(format::OffloadRing& ring, const format::MonitorSpec& spec) noexcept;

  // The place for an entry of `bytes`, a multiple of 8. nullptr if there is no room; then the policy has been applied
  // and counted.
  char* reserve(std::uint64_t bytes) noexcept;
  // The entry that was reserved last is complete, and the reader may take it.
  void publish() noexcept;

  format::OffloadAccount& account() noexcept { return ring_->account; }

 private:
  char* place(std::uint64_t bytes) noexcept;
  bool waits() noexcept;

  format::OffloadRing* ring_ = nullptr;
  char* entries_ = nullptr;
  std::uint64_t bytes_ = 0;  // of the ring; not read from its header, which others may write to
  std::uint64_t head_ = 0;
  std::uint64_t written_ = 0;
  std::uint64_t reserved_ = 0;  // position after the reserved entry
  format::MonitorPolicy policy_{};
  std::uint64_t depth_ = 0;
  std::uint64_t wait_ns_ = 0;
  std::uint64_t timed_out_at_ = UINT64_MAX;  // OffloadRing::taken when the reader did not come in time
};

}  // namespace tare::monitor
