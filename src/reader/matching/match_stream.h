// The matched messages and collective operations of a whole run, as they are found while reading.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "reader/events/event_stream.h"
#include "reader/matching/matcher.h"
#include "reader/run/run.h"

namespace tare::reader {

// Reads the trace once. The run must outlive it. Not thread-safe.
class MatchStream {
 public:
  // Fails as EventStream::open() does.
  static Result<MatchStream> open(Run& run);
  // Finds more matches, and replaces messages() and collectives() by them. False at the end.
  bool next();
  std::vector<Message>& messages() { return matcher_.messages(); }
  std::vector<Collective>& collectives() { return matcher_.collectives(); }
  // Warnings about what could not be read or matched; complete at the end.
  std::vector<std::string> warnings() const;

 private:
  MatchStream(EventStream events, Matcher matcher) : events_(std::move(events)), matcher_(std::move(matcher)) {}
  EventStream events_;
  Matcher matcher_;
  bool is_finished_ = false;
};

}  // namespace tare::reader
