// The events of a run as spans that begin and end, thread by thread: what all formats of traces want.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "exporters/matched_ends.h"
#include "exporters/message_flows.h"
#include "reader/events/event_filter.h"
#include "reader/events/event_stream.h"
#include "reader/result.h"
#include "reader/run/run.h"

namespace tare::exporters {

// A thread of a process, or what the node's tared did for it.
struct Track {
  std::uint32_t number = 0;   // in the order in which tracks appear
  std::uint32_t process = 0;  // index in Run::processes()
  std::uint32_t thread = 0;
  bool is_of_tared = false;
  const std::string* name = nullptr;  // of the thread, if it has one
};

// A call, a region or phase of the program, or what tare itself did; `row` is the event that began it.
struct Span {
  reader::EventRow row;
  Flows flows;  // of a call
  // Of a call, where the trace is known to have gaps: all that it does of messages and collective operations that are
  // there as a whole. Otherwise nothing is said of that.
  std::optional<std::span<const MatchedEnd>> matched;
};

// Spans of a track nest, and its times never go back.
class TimelineWriter {
 public:
  virtual ~TimelineWriter() = default;
  // Before everything else of the track.
  virtual void begin_track(const Track& track) = 0;
  virtual void enter(const Track& track, std::int64_t time_ns, const Span& span) = 0;
  virtual void leave(const Track& track, std::int64_t time_ns, const Span& span) = 0;
  // A counter, a marker, or an event with parameters or text.
  virtual void event(const Track& track, std::int64_t time_ns, const reader::EventRow& row) = 0;
  // Calls are missing from here on: a chunk was damaged.
  virtual void lose() {}
  // Whether the rest may be left out, because it cannot be written.
  virtual bool has_failed() const = 0;
};

struct TimelineOptions {
  reader::EventFilter filter;
  bool finds_messages = false;  // Span::flows
  bool finds_matched = false;   // Span::matched
  bool is_ordered = false;      // times never go back, over all tracks
  // Told now and then how many events have gone by; false ends the reading.
  std::function<bool(std::uint64_t)> goes_on = nullptr;
};

struct TimelineSummary {
  std::uint64_t events = 0;  // calls and events of the program
  std::uint64_t open = 0;    // regions and phases whose end is not in the trace: they end with it
  std::uint64_t ends = 0;    // ends whose begin is not in the trace: left out
  bool was_stopped = false;
  std::string obstacle;  // why messages were not all found
  std::vector<std::string> warnings;
};

// Hands all events that the filter wants to the writer. Holds a chunk a location. Reads from the start of the run in
// any case: what is open at the start of the time that is wanted, and which message is which, depends on what was
// before.
reader::Result<TimelineSummary> write_timeline(reader::Run& run, TimelineOptions options, TimelineWriter& writer);

// What kind of an event of the program it is. How it was recorded decides between raw and the others, whatever its
// definition says.
format::EventClass class_of(const reader::Run& run, const reader::EventRow& row);

}  // namespace tare::exporters
