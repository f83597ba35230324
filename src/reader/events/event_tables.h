// The events of a run as an Arrow table. Chunks are decoded column by column, which is ten times as fast as row by row.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reader/events/event_filter.h"
#include "reader/events/table_stream.h"

namespace tare::reader {

// The rows of EventStream, but one location after another and not merged by time. Within a location, each chunk gives
// its calls in the order of recording, then its events of the API; flushes, drains and losses come at the end. Keeps
// one chunk and its batch in memory. The warnings are about damaged chunks.
// `columns`: the columns to read; nothing: all. They are in the order of events_columns. Lines of call sites are only
// looked up if a column needs them. Fails for an unknown column, or if a file of the run cannot be opened.
Result<TableStream> event_table(Run& run, EventFilter filter,
                                const std::optional<std::vector<std::string>>& columns = std::nullopt);

}  // namespace tare::reader
