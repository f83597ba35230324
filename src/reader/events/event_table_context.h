// Data that the parts of the table of events share.
#pragma once

#include <utility>

#include "reader/events/chunk_calls.h"
#include "reader/events/run_texts.h"

namespace tare::reader {

struct TableContext : EventContext {
  TableContext(Run& of, EventFilter with, SiteTexts sites) : EventContext(of, std::move(with)), texts(of, sites) {}

  RunTexts texts;
};

}  // namespace tare::reader
