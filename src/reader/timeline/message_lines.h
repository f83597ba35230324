// The messages of a trace as lines between the rows of a timeline.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "reader/timeline/timeline.h"

namespace tare::reader {

struct MessageLine {
  std::uint32_t from, to;          // rows
  std::int64_t sent_ns, taken_ns;  // when the call that sent began, when the one that completed the receive ended
  std::int64_t bytes;              // -1: not known
  std::int32_t tag;
};

class MessageLines {
 public:
  static constexpr std::atomic<bool> never = false;
  // Matches all messages of the run, in about the time that `tare events` takes. Keeps the `most` that took longest.
  // Another thread may set `stop`: those found until then are the result.
  static Result<MessageLines> read(Run& run, const Timeline& timeline, std::size_t most,
                                   const std::atomic<bool>& stop = never);

  std::uint64_t matched() const { return matched_; }
  // In the order of sending.
  const std::vector<MessageLine>& lines() const { return lines_; }
  // Those that touch the window and begin or end in its rows; the longest `most` of them.
  std::vector<MessageLine> of(const Timeline::Window& window, std::size_t most) const;
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  std::vector<MessageLine> lines_;
  std::int64_t longest_ns_ = 0;
  std::uint64_t matched_ = 0;
  std::vector<std::string> warnings_;
};

}  // namespace tare::reader
