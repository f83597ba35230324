// For tests: events as text, one line each, so that those of EventStream and event_table() can be compared.
#pragma once

#include <string>
#include <vector>

#include "reader/events/arrow.h"
#include "reader/events/event_stream.h"
#include "reader/run/run.h"

namespace tare::reader::testing {

// One line for each event, with the names and values of the columns that are not absent; sorted. Both functions return
// the same line for the same event.
std::vector<std::string> lines_of(Run& run, const std::vector<EventRow>& rows);
std::vector<std::string> lines_of_tables(Run& run, const EventFilter& filter);

// A value as text; "" if it is null.
std::string text_of(const arrow::Field& field, const arrow::Array& array, std::size_t i);

}  // namespace tare::reader::testing
