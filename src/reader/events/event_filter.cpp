#include "reader/events/event_filter.h"

#include <algorithm>
#include <set>

#include "format/function_meaning.h"

namespace tare::reader {
namespace {

// Clock pairs are read slightly before or after the events around them.
constexpr std::uint64_t clock_slack_ns = 1'000'000;

}  // namespace

const std::string flush_name = "tare:flush";
const std::string drain_name = "tare:drain";
const std::string loss_name = "tare:loss";
const std::string other_name = "other";

bool is_before(std::int64_t time, std::int64_t other, std::uint64_t distance) {
  if (time >= other) return false;
  return static_cast<std::uint64_t>(other) - static_cast<std::uint64_t>(time) > distance;
}

bool EventFilter::wants(const Process& process) const {
  return !ranks || std::find(ranks->begin(), ranks->end(), process.record.rank) != ranks->end();
}

bool EventFilter::wants_time(std::int64_t from_ns, std::int64_t duration_ns) const {
  if (start_ns && is_before(from_ns, *start_ns, static_cast<std::uint64_t>(duration_ns))) return false;
  return !end_ns || from_ns < *end_ns;
}

bool EventFilter::skips(const Process& process, const ChunkRef& chunk) const {
  // The time in the header is that of writing, which was after the last record.
  const std::uint64_t ticks = chunk.header.ticks;
  if (process.moved) return false;  // it may be moved to a later time
  return start_ns && ticks != 0 && is_before(process.clock.unix_ns(ticks), *start_ns, clock_slack_ns);
}

EventChoice::EventChoice(const Run& run, const EventFilter& filter) : all_(!filter.functions) {
  if (all_) return;
  const std::set<std::string> names(filter.functions->begin(), filter.functions->end());
  for (const std::string& name : run.functions().names()) functions_.push_back(names.contains(name));
  for (const EventType& type : run.event_types()) event_types_.push_back(names.contains(type.name));
  others_ = names.contains(other_name);
  flushes_ = names.contains(flush_name);
  drains_ = names.contains(drain_name);
  losses_ = names.contains(loss_name);
}

bool EventChoice::wants_calls_only() const {
  return !all_ && !flushes_ && !drains_ && !losses_ && !others_ &&
         std::find(event_types_.begin(), event_types_.end(), true) == event_types_.end();
}

std::vector<bool> rooted_functions(const FunctionNames& functions) {
  std::vector<bool> rooted;
  for (unsigned number = 0; number < functions.names().size(); ++number)
    rooted.push_back(format::meaning_of(number).is_rooted);
  return rooted;
}

std::string damaged_events(const std::string& file, const ChunkRef& chunk, const std::string& reason) {
  return file + ": the chunk at offset " + std::to_string(chunk.offset) + " is damaged (" + reason + "), " +
         std::to_string(chunk.header.records) + " events were skipped";
}

}  // namespace tare::reader
