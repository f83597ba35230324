#include "reader/timeline/message_lines.h"

#include <algorithm>

#include "reader/matching/match_stream.h"
#include "reader/timeline/longest.h"
#include "reader/timeline/row_index.h"

namespace tare::reader {

Result<MessageLines> MessageLines::read(Run& run, const Timeline& timeline, std::size_t most,
                                        const std::atomic<bool>& stop) {
  auto stream = MatchStream::open(run);
  if (!stream) return stream.failure();
  const RowIndex rows(timeline);
  MessageLines made;
  Longest<MessageLine> longest(most);
  const auto take = [&] {
    for (const Message& message : stream->messages()) {
      if (!message.is_matched() || !message.received.is_complete) continue;
      ++made.matched_;
      const auto from = rows.find(message.world, message.sent.rank, message.sent.posted.thread);
      const auto to = rows.find(message.world, message.received.rank, message.received.completed.thread);
      if (!from || !to) continue;
      longest.add({*from, *to, message.sent.posted.enter_ns, message.received.completed.leave_ns,
                   static_cast<std::int64_t>(message.sent.bytes), message.tag});
    }
    stream->messages().clear();
    stream->collectives().clear();
  };
  while (!stop && stream->next()) take();
  take();
  made.lines_ = longest.take();
  std::sort(made.lines_.begin(), made.lines_.end(),
            [](const MessageLine& a, const MessageLine& b) { return a.sent_ns < b.sent_ns; });
  for (const MessageLine& line : made.lines_) made.longest_ns_ = std::max(made.longest_ns_, length_ns(line));
  made.warnings_ = stream->warnings();
  return made;
}

std::vector<MessageLine> MessageLines::of(const Timeline::Window& window, std::size_t most) const {
  Longest<MessageLine> found(most);
  const auto sent_before = [](const MessageLine& line, std::int64_t time) { return line.sent_ns < time; };
  const auto is_in = [&](std::uint32_t row) { return row >= window.first && row < window.first + window.rows; };
  auto at = std::lower_bound(lines_.begin(), lines_.end(), difference(window.from_ns, longest_ns_), sent_before);
  for (; at != lines_.end() && at->sent_ns < window.to_ns; ++at)
    if (at->taken_ns >= window.from_ns && (is_in(at->from) || is_in(at->to))) found.add(*at);
  return found.take();
}

}  // namespace tare::reader
