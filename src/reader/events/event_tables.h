// The events of a run as a table of Arrow: decoded column by column, an order of magnitude faster than row by row.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reader/events/arrow.h"
#include "reader/events/event_filter.h"
#include "reader/run/run.h"

namespace tare::reader {

// The same rows as of EventStream, but not merged: one location after another, and of each, its calls in the order in
// which they were recorded, its events of the API likewise, and at its end what tare itself recorded. Holds a chunk and
// the batch that is made of it. The run must outlive it, but not the batches.
class EventTables {
 public:
  // Names of the columns, in their order.
  static std::vector<std::string> column_names();
  // With these columns, in their order of column_names(), or all. Finds the lines of call sites, if they are wanted.
  static Result<EventTables> open(Run& run, EventFilter filter,
                                  const std::optional<std::vector<std::string>>& columns = std::nullopt);

  EventTables(EventTables&&) noexcept;
  EventTables& operator=(EventTables&&) noexcept;
  ~EventTables();

  const arrow::Schema& schema() const;
  // The next rows, a column for each field of the schema; returns how many there are, 0 at the end.
  std::size_t next(std::vector<arrow::Array>& columns);
  // Chunks that were damaged, as far as it has come.
  const std::vector<std::string>& warnings() const;

 private:
  struct State;
  explicit EventTables(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace tare::reader
