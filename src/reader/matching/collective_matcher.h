// Finds the calls of a trace that belong to one collective operation. matcher.h states the rules.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "reader/events/event_stream.h"
#include "reader/matching/message.h"
#include "reader/matching/trace_gaps.h"
#include "reader/run/run.h"

namespace tare::reader {

// Holds the operations that not all members have completed yet. Not thread-safe.
class CollectiveMatcher {
 public:
  struct Key {
    std::int32_t communicator = -1, scope = -1;
    std::uint64_t number = 0;  // of the operation on the communicator or scope, from 0 in each epoch
    std::uint32_t epoch = 0;   // see Channel::epoch
    bool operator==(const Key&) const = default;
  };
  // The part of a rank in an operation.
  struct Taken {
    Key key;
    std::uint32_t part = 0;  // index in Collective::parts
  };

  // Found operations and ends are appended to the vectors; nullptr: they are not wanted. All arguments must outlive the
  // object.
  CollectiveMatcher(Run& run, const TraceGaps& gaps, std::vector<Collective>* collectives, std::vector<End>* ends)
      : run_(run), gaps_(gaps), collectives_(collectives), ends_(ends) {}

  // A rank begins the operation with this number on the communicator, window or file of `row`. Returns nothing if the
  // operation cannot be matched.
  std::optional<Taken> begin(const EventRow& row, const PartCall& call, CallRole role, std::uint64_t number,
                             std::uint32_t epoch);
  void complete(const Taken& taken, const PartCall& call);
  // To be called at the end of the trace: appends the incomplete operations as they are.
  void finish();

 private:
  struct Hash {
    std::size_t operator()(const Key& of) const {
      std::uint64_t hash = (of.number ^ std::uint64_t{of.epoch} << 40) * 0x9e3779b97f4a7c15;
      hash ^= std::uint64_t{static_cast<std::uint32_t>(of.communicator)} << 32 | static_cast<std::uint32_t>(of.scope);
      return (hash ^ hash >> 29) * 0xbf58476d1ce4e5b9;
    }
  };
  struct Instance {
    Collective what;
    CallRole role = CallRole::to_all;
    std::size_t complete = 0;
    std::size_t last = 0;         // index of the part that began last
    std::size_t root = SIZE_MAX;  // index of the part of the root; SIZE_MAX: it has not begun
  };

  static bool has_all_causes(const Instance& of) {
    return of.role == CallRole::from_root ? of.root != SIZE_MAX
                                          : of.what.parts.size() == static_cast<std::size_t>(of.what.size);
  }
  void add_ends_of_complete(const Instance& instance);
  void add_end(const Instance& instance, std::size_t part);
  std::size_t last_below(const Collective& what, std::size_t part) const;

  Run& run_;
  const TraceGaps& gaps_;
  std::vector<Collective>* collectives_;
  std::vector<End>* ends_;
  std::unordered_map<Key, Instance, Hash> instances_;
};

}  // namespace tare::reader
