// The MPI calls of a location block, chunk by chunk, with the requests that they start and complete.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "reader/events/event_block.h"
#include "reader/events/event_row.h"

namespace tare::reader {

// Which events are read.
struct EventContext {
  EventContext(const Run& of, EventFilter with)
      : run(of), filter(std::move(with)), choice(of, filter), rooted(rooted_functions(of.functions())) {}

  const Run& run;
  EventFilter filter;
  EventChoice choice;
  std::vector<bool> rooted;  // by function

  bool wants_all() const { return choice.wants_everything() && filter.wants_all_times(); }
};

// Keeps only the chosen elements of a column.
template <typename T>
void keep(std::vector<T>& column, const std::vector<std::uint32_t>& chosen) {
  for (std::size_t i = 0; i < chosen.size(); ++i) column[i] = column[chosen[i]];
  column.resize(chosen.size());
}

class ChunkCalls {
 public:
  // A request that a call started or completed.
  struct Request : EventRequest {
    std::uint32_t call = 0;  // index of the call in the chunk
    bool completes = false;
  };

  // The context must outlive the object.
  explicit ChunkCalls(const EventContext& context) : context_(&context) {}

  // Reads the calls of the next chunk of the block that are wanted. The last one is kept back for the next chunk, if
  // that may contain more of its requests.
  void read(const format::EventColumns& chunk, const ChunkPlace& place);

  std::size_t count() const { return signature.size(); }
  // When the call that was kept back began.
  std::optional<std::int64_t> held_since_ns() const { return held_ ? std::optional(held_->start_ns) : std::nullopt; }

  // By signature: what its calls have in common; the last one may be that of a held call. Of starts and completions:
  // nothing, and the kind `loss`.
  std::vector<EventRow> values;
  // By call:
  std::vector<std::uint32_t> signature, request;
  std::vector<std::int64_t> start_ns, duration_ns;
  std::vector<Request> requests;  // in the order of calls; for each call, first those that it started
  // By call: its message and the request that it started. Unless the filter lists all requests, a call with a single
  // request has the values of this request that it does not have itself.
  std::vector<EventRequest> messages;

 private:
  struct HeldCall {
    EventRow values;
    std::int64_t start_ns, duration_ns;
    std::uint32_t request;
    std::vector<Request> requests;
  };

  void value_signatures();
  void list_calls();
  void resolve_requests();
  void number_requests();
  void list_requests();
  StartedRequest started_here(std::uint32_t nth, std::size_t of) const;
  Request described(const StartedRequest& started, std::uint32_t call, std::size_t of, bool completes) const;
  std::int32_t world_rank(std::int32_t communicator, std::int32_t peer) const;
  std::uint32_t place_of(std::uint32_t call) const;
  bool has_all_requests() const;
  void hold_back();
  void choose();
  void join_requests();

  const EventContext* context_;
  std::unordered_map<std::uint32_t, StartedRequest> open_requests_;  // by number in the file
  std::uint32_t last_request_ = format::no_request;
  std::optional<HeldCall> held_;

  // For the current chunk; the memory is reused.
  const format::EventColumns* chunk_ = nullptr;
  ChunkPlace place_{};
  bool begins_with_held_ = false;
  std::uint32_t first_request_ = 0;  // number of the first request that the chunk starts
  std::vector<std::uint64_t> ticks_;
  std::vector<StartedRequest> resolved_;  // by completion, for requests of earlier chunks or other threads
  std::vector<std::uint32_t> chosen_, rows_;
};

}  // namespace tare::reader
