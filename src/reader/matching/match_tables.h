// Messages and collective operations as tables of Arrow; docs/tables.md has their columns.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "reader/events/arrow.h"
#include "reader/run/run.h"

namespace tare::reader {

// A table that is read from the run as it is asked for. The run must outlive it, but not the batches.
struct TableStream {
  arrow::Schema schema;
  arrow::Next next;
  std::function<std::vector<std::string>()> warnings;  // complete at the end
};

// One row for each message, matched or not; finds the lines of call sites.
Result<TableStream> message_table(Run& run);
// One row for each rank that took part in each collective operation.
Result<TableStream> collective_table(Run& run);

}  // namespace tare::reader
