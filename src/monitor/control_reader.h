// The messages of users to this process, in their order (format/control.h), from memory that tared writes.
#pragma once

#include <atomic>
#include <cstdint>

#include "format/control.h"
#include "format/published.h"

namespace tare::monitor {

class ControlReader {
 public:
  using Published = format::Published<format::ControlMessages>;

  // Messages from now on are for this process. Those before were for an earlier program of the run.
  void begin(const std::atomic<std::uint64_t>& last) noexcept {
    seen_ = last.load(std::memory_order_acquire);
    lost_ = 0;
  }
  // The next message that this rank gets at or before the point. Without a new message it costs one load.
  bool take(const std::atomic<std::uint64_t>& last, const Published& messages, std::int32_t rank, std::uint64_t point,
            format::ControlMessage& message) noexcept;
  // Messages for some rank that were replaced by later ones before this process has asked for them.
  std::uint64_t lost() const noexcept { return lost_; }

 private:
  std::uint64_t seen_ = 0;
  std::uint64_t lost_ = 0;
};

}  // namespace tare::monitor
