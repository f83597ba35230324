// Data that the parts of the table of events share.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "reader/events/event_filter.h"
#include "reader/events/open_requests.h"
#include "reader/events/run_texts.h"
#include "reader/run/run.h"

namespace tare::reader {

struct TableContext {
  TableContext(Run& of, EventFilter with, SiteTexts sites)
      : run(of),
        filter(std::move(with)),
        choice(of, filter),
        texts(of, sites),
        rooted(rooted_functions(of.functions())) {}

  const Run& run;
  EventFilter filter;
  EventChoice choice;
  RunTexts texts;
  std::vector<bool> rooted;  // by function

  bool wants_all() const { return choice.wants_everything() && filter.wants_all_times(); }
};

// The chunk that a part of the table reads.
struct ChunkPlace {
  const Process* process;
  std::uint32_t thread;
  bool continues;  // no chunk is missing between this one and the chunk of the block before
  bool is_last;    // it is the last chunk of its block
  // If threads of the process may complete requests of one another: the requests of the completions with a number, in
  // order.
  std::optional<std::span<const StartedRequest>> completed{};
};

// Keeps only the chosen elements of a column.
template <typename T>
void keep(std::vector<T>& column, const std::vector<std::uint32_t>& chosen) {
  for (std::size_t i = 0; i < chosen.size(); ++i) column[i] = column[chosen[i]];
  column.resize(chosen.size());
}

}  // namespace tare::reader
