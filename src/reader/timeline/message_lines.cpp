#include "reader/timeline/message_lines.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "reader/matching/match_stream.h"
#include "reader/time_arithmetic.h"

namespace tare::reader {
namespace {

std::int64_t length_ns(const MessageLine& line) { return difference(line.taken_ns, line.sent_ns); }

bool is_longer(const MessageLine& a, const MessageLine& b) { return length_ns(a) > length_ns(b); }

// Keeps the longest `most` lines.
void trim(std::vector<MessageLine>& lines, std::size_t most) {
  if (lines.size() <= most) return;
  std::nth_element(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(most), lines.end(), is_longer);
  lines.resize(most);
}

// Finds rows by world, rank and thread. A thread without a row gets the first row of its rank.
class RowsByThread {
 public:
  explicit RowsByThread(const Timeline& timeline) {
    for (std::uint32_t row = 0; row < timeline.rows().size(); ++row) {
      const Timeline::Row& of = timeline.rows()[row];
      rows_.try_emplace({of.process->world, of.process->record.rank, of.thread}, row);
      first_.try_emplace({of.process->world, of.process->record.rank}, row);
    }
  }
  std::optional<std::uint32_t> find(int world, std::int32_t rank, std::uint32_t thread) const {
    if (const auto found = rows_.find({world, rank, thread}); found != rows_.end()) return found->second;
    if (const auto found = first_.find({world, rank}); found != first_.end()) return found->second;
    return std::nullopt;
  }

 private:
  std::map<std::tuple<int, std::int32_t, std::uint32_t>, std::uint32_t> rows_;
  std::map<std::pair<int, std::int32_t>, std::uint32_t> first_;
};

}  // namespace

Result<MessageLines> MessageLines::read(Run& run, const Timeline& timeline, std::size_t most,
                                        const std::atomic<bool>& stop) {
  auto stream = MatchStream::open(run);
  if (!stream) return stream.failure();
  const RowsByThread rows(timeline);
  MessageLines made;
  const auto take = [&] {
    for (const Message& message : stream->messages()) {
      if (!message.is_matched() || !message.received.is_complete) continue;
      ++made.matched_;
      const auto from = rows.find(message.world, message.sent.rank, message.sent.posted.thread);
      const auto to = rows.find(message.world, message.received.rank, message.received.completed.thread);
      if (!from || !to) continue;
      made.lines_.push_back({*from, *to, message.sent.posted.enter_ns, message.received.completed.leave_ns,
                             static_cast<std::int64_t>(message.sent.bytes), message.tag});
    }
    stream->messages().clear();
    stream->collectives().clear();
    if (made.lines_.size() >= 2 * most + 1024) trim(made.lines_, most);
  };
  while (!stop && stream->next()) take();
  take();
  trim(made.lines_, most);
  std::sort(made.lines_.begin(), made.lines_.end(),
            [](const MessageLine& a, const MessageLine& b) { return a.sent_ns < b.sent_ns; });
  for (const MessageLine& line : made.lines_) made.longest_ns_ = std::max(made.longest_ns_, length_ns(line));
  made.warnings_ = stream->warnings();
  return made;
}

std::vector<MessageLine> MessageLines::of(const Timeline::Window& window, std::size_t most) const {
  std::vector<MessageLine> found;
  const auto sent_before = [](const MessageLine& line, std::int64_t time) { return line.sent_ns < time; };
  const auto is_in = [&](std::uint32_t row) { return row >= window.first && row < window.first + window.rows; };
  auto at = std::lower_bound(lines_.begin(), lines_.end(), difference(window.from_ns, longest_ns_), sent_before);
  for (; at != lines_.end() && at->sent_ns < window.to_ns; ++at)
    if (at->taken_ns >= window.from_ns && (is_in(at->from) || is_in(at->to))) found.push_back(*at);
  trim(found, most);
  return found;
}

}  // namespace tare::reader
