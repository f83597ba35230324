// For tests: events as text, a line each, whichever reader they come from.
#pragma once

#include <string>
#include <vector>

#include "reader/events/arrow.h"
#include "reader/events/event_stream.h"
#include "reader/run/run.h"

namespace tare::reader::testing {

// What is there of each row, by the names of columns, in the order of the lines. Both say the same of the same event.
std::vector<std::string> lines_of(Run& run, const std::vector<EventRow>& rows);
std::vector<std::string> lines_of_tables(Run& run, const EventFilter& filter);

// A value as text; "" if it is not there.
std::string text_of(const arrow::Field& field, const arrow::Array& array, std::size_t i);

}  // namespace tare::reader::testing
