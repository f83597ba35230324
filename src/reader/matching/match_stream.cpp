#include "reader/matching/match_stream.h"

namespace tare::reader {
Result<MatchStream> MatchStream::open(Run& run) {
  auto events = EventStream::open(run, {.lists_all_requests = true});
  if (!events) return events.failure();
  return MatchStream(std::move(*events), Matcher(run));
}

bool MatchStream::next() {
  messages().clear();
  collectives().clear();
  while (messages().empty() && collectives().empty()) {
    const auto rows = events_.next();
    for (const EventRow& row : rows) matcher_.add(row);
    if (!rows.empty()) continue;
    if (is_finished_) return false;
    is_finished_ = true;
    matcher_.finish();
  }
  return true;
}

std::vector<std::string> MatchStream::warnings() const {
  std::vector<std::string> all = events_.warnings();
  for (std::string& line : matcher_.warnings()) all.push_back(std::move(line));
  return all;
}

}  // namespace tare::reader
