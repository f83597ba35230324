// What to export of a run.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "reader/events/event_filter.h"

namespace tare::exporters {

struct ExportOptions {
  reader::EventFilter filter;
  std::int64_t start_ns = 0;                             // when the run began, Unix time; the zero of exported times
  std::function<bool(std::uint64_t)> goes_on = nullptr;  // see TimelineOptions
};

}  // namespace tare::exporters
