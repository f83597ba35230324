// A table that is read from the run batch by batch.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "reader/events/arrow.h"

namespace tare::reader {

// The run must outlive it, but not the batches.
struct TableStream {
  arrow::Schema schema;
  arrow::Next next;
  std::function<std::vector<std::string>()> warnings;  // complete at the end
  std::optional<std::size_t> rows{};                   // how many there are, if that is known at the start
};

}  // namespace tare::reader
