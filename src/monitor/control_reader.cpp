#include "monitor/control_reader.h"

#include <algorithm>

namespace tare::monitor {

using format::ControlMessage;
using format::ControlMessages;

bool ControlReader::take(const std::atomic<std::uint64_t>& last, const Published& messages, std::int32_t rank,
                         std::uint64_t point, ControlMessage& message) noexcept {
  if (last.load(std::memory_order_acquire) == seen_) return false;
  ControlMessages now;
  if (!messages.read(now)) return false;
  const std::uint64_t first = now.last - std::min(now.last, ControlMessages::most);
  if (first > seen_) {
    lost_ += first - seen_;
    seen_ = first;
  }
  while (seen_ < now.last) {
    const ControlMessage& next = now.of[(seen_ + 1) % ControlMessages::most];
    if (next.number != seen_ + 1) {  // this node has not got it
      ++lost_;
      ++seen_;
      continue;
    }
    if (next.from_point > point) return false;
    ++seen_;
    if (next.rank != format::all_ranks && next.rank != rank) continue;
    message = next;
    message.name.back() = message.text.back() = '\0';
    return true;
  }
  return false;
}

}  // namespace tare::monitor
