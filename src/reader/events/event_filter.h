// Selects the events to be read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reader/run/run.h"

namespace tare::reader {

struct EventFilter {
  std::optional<std::vector<std::int32_t>> ranks{};
  std::optional<std::vector<std::string>> functions{};  // names as in EventStream::name, including those of API events
  std::optional<std::int64_t> start_ns{};               // events that overlap [start_ns, end_ns) are wanted
  std::optional<std::int64_t> end_ns{};
  std::uint64_t limit = 0;          // the maximum number of events; 0: all
  bool lists_all_requests = false;  // EventRow::requests also contains the request of a call with a single one

  bool wants(const Process& process) const;
  bool wants_time(std::int64_t from_ns, std::int64_t duration_ns) const;
  bool wants_all_times() const { return !start_ns && !end_ns; }
  // Whether all records of a chunk ended before start_ns.
  bool skips(const Process& process, const ChunkRef& chunk) const;
};

// Names of tare's own records, and of events whose definition is lost.
extern const std::string flush_name, drain_name, loss_name, other_name;

// The functions and event types of a run that a filter wants.
class EventChoice {
 public:
  EventChoice(const Run& run, const EventFilter& filter);

  bool wants_call(std::uint16_t function) const { return all_ || functions_[function]; }
  // By index in Run::event_types(); -1: its definition is lost.
  bool wants_event(std::int32_t type) const {
    return all_ || (type < 0 ? others_ : event_types_[static_cast<std::size_t>(type)]);
  }
  bool wants_flushes() const { return all_ || flushes_; }
  bool wants_drains() const { return all_ || drains_; }
  bool wants_losses() const { return all_ || losses_; }
  bool wants_everything() const { return all_; }
  // Whether only calls are wanted.
  bool wants_calls_only() const;

 private:
  bool all_, others_ = false, flushes_ = false, drains_ = false, losses_ = false;
  std::vector<bool> functions_, event_types_;  // if not all
};

// By function number: whether the peer of a call is the root of a collective (MPI_Bcast and its variants).
std::vector<bool> rooted_functions(const FunctionNames& functions);

// The warning that an event chunk could not be read.
std::string damaged_events(const std::string& file, const ChunkRef& chunk, const std::string& reason);

// Whether `time` is more than `distance` before `other`. Does not overflow, whatever damaged times are.
bool is_before(std::int64_t time, std::int64_t other, std::uint64_t distance);

}  // namespace tare::reader
