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
  std::uint32_t from, to;          // indices in Timeline::rows()
  std::int64_t sent_ns, taken_ns;  // begin of the call that sent, end of the call that completed the receive
  std::int64_t bytes;              // -1: not known
  std::int32_t tag;
};
inline std::int64_t length_ns(const MessageLine& of) { return difference(of.taken_ns, of.sent_ns); }

// Immutable once read, so several threads may use it.
class MessageLines {
 public:
  // Matches all messages of the run, in about the time that `tare events` takes. Keeps the `most` messages that took
  // longest. Another thread may set `stop`; the result then has the messages found until then.
  static Result<MessageLines> read(Run& run, const Timeline& timeline, std::size_t most,
                                   const std::atomic<bool>& stop = false);

  std::uint64_t matched() const { return matched_; }  // number of messages that were matched
  // Sorted by sent_ns.
  const std::vector<MessageLine>& lines() const { return lines_; }
  // The lines that overlap the window in time and begin or end in one of its rows; at most `most`, the longest ones.
  std::vector<MessageLine> of(const Timeline::Window& window, std::size_t most) const;
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  std::vector<MessageLine> lines_;
  std::int64_t longest_ns_ = 0;
  std::uint64_t matched_ = 0;
  std::vector<std::string> warnings_;
};

}  // namespace tare::reader
