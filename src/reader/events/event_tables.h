// The events of a run as an Arrow table. Chunks are decoded column by column, which is ten times as fast as row by row.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reader/events/arrow.h"
#include "reader/events/event_filter.h"
#include "reader/run/run.h"

namespace tare::reader {

// The rows of EventStream, but one location after another and not merged by time. Within a location, each chunk gives
// its calls in the order of recording, then its events of the API; flushes, drains and losses come at the end. Keeps
// one chunk and its batch in memory. The run must outlive the object, but not the batches.
class EventTables {
 public:
  // Names of the columns, in their order.
  static std::vector<std::string> column_names();
  // `columns`: the columns to read; nothing: all. They are in the order of column_names(). Lines of call sites are only
  // looked up if a column needs them. Fails for an unknown column, or if a file of the run cannot be opened.
  static Result<EventTables> open(Run& run, EventFilter filter,
                                  const std::optional<std::vector<std::string>>& columns = std::nullopt);

  EventTables(EventTables&&) noexcept;
  EventTables& operator=(EventTables&&) noexcept;
  ~EventTables();

  const arrow::Schema& schema() const;
  // Fills a column for each field of the schema with the next rows. Returns their number; 0 at the end.
  std::size_t next(std::vector<arrow::Array>& columns);
  // Warnings about damaged chunks that were read so far.
  const std::vector<std::string>& warnings() const;

 private:
  struct State;
  explicit EventTables(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace tare::reader
