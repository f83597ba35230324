// The events of a run as rows. Chunks are decoded while the rows are read.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reader/events/event_filter.h"
#include "reader/events/event_row.h"
#include "reader/run/run.h"

namespace tare::reader {

// The events of all locations, merged in the order of time. Keeps one decoded chunk of each location in memory, and the
// requests of processes whose threads may complete those of one another. Events in the buffers of segments are
// included. The run must outlive the stream. Not thread-safe.
class EventStream {
 public:
  // Fails if a file of the run cannot be opened.
  static Result<EventStream> open(const Run& run, EventFilter filter);

  EventStream(EventStream&&) noexcept;
  EventStream& operator=(EventStream&&) noexcept;
  ~EventStream();

  // The next events, at most `count`. Empty at the end.
  std::vector<EventRow> next(std::size_t count = 4096);
  // The name of an event: that of the MPI function ("MPI_Send"), "tare:flush", "tare:drain" (by the node's tared),
  // "tare:loss", or the name that the program registered; "other" if the definition is lost.
  static const std::string& name(const Run& run, const EventRow& row);
  // The argument of a call of another source than MPI that has this name; nothing if there is none.
  static std::optional<std::uint64_t> argument(const Run& run, const EventRow& row, std::string_view name);
  // Warnings about damaged chunks that were read so far.
  const std::vector<std::string>& warnings() const;

 private:
  struct State;
  explicit EventStream(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace tare::reader
