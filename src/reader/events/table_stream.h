// A table that is read from the run batch by batch.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "reader/events/arrow.h"

namespace tare::reader {

// The run must outlive the stream, but not the batches.
struct TableStream {
  arrow::Schema schema;
  arrow::Next next;
  std::function<std::vector<std::string>()> warnings;  // complete after the last batch
  std::optional<std::size_t> rows{};                   // the number of rows, if it is known at the start
};

}  // namespace tare::reader
