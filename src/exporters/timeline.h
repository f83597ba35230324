// The events of a run as spans that begin and end, by thread: what all formats of traces need.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "exporters/matched_ends.h"
#include "exporters/message_flows.h"
#include "reader/events/event_filter.h"
#include "reader/events/event_stream.h"
#include "reader/result.h"
#include "reader/run/run.h"

namespace tare::exporters {

// A thread of a process, or tared's drains of its buffer.
struct Track {
  std::uint32_t number = 0;   // in the order in which tracks appear
  std::uint32_t process = 0;  // index in Run::processes()
  std::uint32_t thread = 0;
  bool is_of_tared = false;
  const std::string* name = nullptr;  // of the thread, if it has one
};

// A call, a region or phase of the program, or work of tare; `row` is the event that began it.
struct Span {
  reader::EventRow row;
  Flows flows;  // of a call
  // For a call, if the trace is known to have gaps: its part in messages and collective operations that are complete in
  // the trace. Else empty.
  std::optional<std::span<const MatchedEnd>> matched;
};

// Spans of a track are nested, and its times never decrease.
class TimelineWriter {
 public:
  virtual ~TimelineWriter() = default;
  // Comes first in a track.
  virtual void begin_track(const Track& track) = 0;
  virtual void enter(const Track& track, std::int64_t time_ns, const Span& span) = 0;
  virtual void leave(const Track& track, std::int64_t time_ns, const Span& span) = 0;
  // A counter, a marker, or an event with parameters or text.
  virtual void event(const Track& track, std::int64_t time_ns, const reader::EventRow& row) = 0;
  // A sample of the stack of the thread (src/stacks), which is no call. Formats without a place for it leave it out.
  virtual void sample(const Track& track, std::int64_t time_ns, const reader::EventRow& row) {
    static_cast<void>(track), static_cast<void>(time_ns), static_cast<void>(row);
  }
  // Calls are missing from now on: a chunk was damaged.
  virtual void lose() {}
  // Whether the rest can be left out, because it cannot be written.
  virtual bool has_failed() const = 0;
};

struct TimelineOptions {
  reader::EventFilter filter;
  bool finds_messages = false;  // Span::flows
  bool finds_matched = false;   // Span::matched
  bool is_ordered = false;      // times never decrease, over all tracks
  // Called now and then with the number of events so far; false ends the reading.
  std::function<bool(std::uint64_t)> goes_on = nullptr;
};

struct TimelineSummary {
  std::uint64_t events = 0;  // calls and events of the program
  std::uint64_t open = 0;    // regions and phases without an end in the trace
  std::uint64_t ends = 0;    // ends without a begin in the trace; left out
  bool was_stopped = false;
  std::string obstacle;  // the reason why not all messages were found
  std::vector<std::string> warnings;
};

// Passes all events that the filter wants to the writer. Holds one chunk for each location. Always reads from the start
// of the run, because open regions and the numbers of messages depend on earlier events.
reader::Result<TimelineSummary> write_timeline(reader::Run& run, TimelineOptions options, TimelineWriter& writer);
// The same with a writer of a file, which is then complete: finish() returns a failure, or nothing.
template <class FileWriter>
reader::Result<TimelineSummary> write_file(reader::Run& run, TimelineOptions options, FileWriter& writer) {
  auto summary = write_timeline(run, std::move(options), writer);
  if (!summary || summary->was_stopped) return summary;
  if (const std::string failure = writer.finish(); !failure.empty()) return reader::Failure{failure};
  return summary;
}

// The time from which all times of an exported trace count: `start_ns`, or that of an earlier process, because clocks
// may differ and no time may be negative.
std::int64_t first_time_ns(const reader::Run& run, std::int64_t start_ns);

// Whether the program has caused it: an event of its own.
constexpr bool is_of_program(reader::EventKind kind) {
  return kind == reader::EventKind::event || kind == reader::EventKind::raw_event;
}
// What has one name: equal for rows of one function, type of event, or kind of work of tare.
constexpr std::uint32_t name_key(const reader::EventRow& row, reader::EventKind kind) {
  const std::uint32_t number = reader::is_call(kind) ? row.function
                               : is_of_program(kind) ? static_cast<std::uint32_t>(row.event_type + 1)
                                                     : 0;
  return static_cast<std::uint32_t>(kind) << 28 | number;
}

}  // namespace tare::exporters
