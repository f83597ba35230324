// The part of the table of events that holds MPI calls.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "format/event_columns.h"
#include "reader/events/event_batch.h"
#include "reader/events/event_table_context.h"
#include "reader/events/open_requests.h"

namespace tare::reader {

class CallTable {
 public:
  explicit CallTable(const TableContext& context) : context_(context) {}

  // The next chunks belong to another block.
  void start_block();
  // Fills the batch with the calls of the next chunk of the block, and sets the number of rows. The last call is kept
  // back if a later chunk may contain more of its requests.
  void fill(const format::EventColumns& chunk, const ChunkPlace& place, EventBatch& batch);

 private:
  static constexpr auto first_column = static_cast<std::size_t>(EventColumn::function);
  static constexpr auto value_columns = static_cast<std::size_t>(EventColumn::source_tag) - first_column + 1;

  // The values that all calls of a signature have in common. The 32-bit ones are neighbours in the table.
  struct Values {
    std::int32_t columns[value_columns];
    std::int64_t bytes, received;
    bool is_wanted;

    std::int32_t& operator[](EventColumn column) { return columns[static_cast<std::size_t>(column) - first_column]; }
  };
  // A request that a call started or completed.
  struct Request {
    std::uint32_t call;  // index of the call in the batch; nowhere: the call is lost
    bool completes;
    std::int32_t communicator;  // of the run, -1: not known
    std::int32_t peer, peer_world, tag;
    std::int32_t starter;  // the thread that started it, if it is another thread
    std::int64_t bytes, number;
  };
  struct HeldCall {
    Values values;
    std::int64_t start_ns, duration_ns, request;
    std::vector<Request> requests;
  };

  void value_signatures();
  void list_calls();
  void resolve_requests();
  void number_requests();
  void list_requests();
  StartedRequest started_here(std::uint32_t nth, std::size_t signature) const;
  Request described(const StartedRequest& started, std::uint32_t call, std::size_t signature, bool completes) const;
  std::int32_t world_rank(std::int32_t communicator, std::int32_t peer) const;
  std::uint32_t place_of(std::uint32_t call) const;
  void hold_back();
  void choose();
  void fill_values(EventBatch& batch);
  void fill_messages(EventBatch& batch);
  std::int32_t* fill_starters(EventBatch& batch) const;
  void fill_requests(EventBatch& batch);

  const TableContext& context_;
  // State of the block:
  std::unordered_map<std::uint32_t, StartedRequest> open_requests_;  // by number in the file
  std::uint32_t last_request_ = format::no_request;
  std::optional<HeldCall> held_;

  // For the current chunk; the memory is reused.
  const format::EventColumns* chunk_ = nullptr;
  ChunkPlace place_{};
  bool begins_with_held_ = false;
  std::uint32_t first_request_ = 0;  // number of the first request that the chunk starts
  std::vector<Values> values_;       // by signature; the last one is for the call that was kept back
  std::vector<std::uint64_t> ticks_;
  std::vector<std::uint32_t> signature_;  // of each call; index in values_
  std::vector<std::int64_t> start_ns_, duration_ns_, request_;
  std::vector<StartedRequest> resolved_;  // by completion, for requests of earlier chunks or other threads
  std::vector<Request> requests_;         // in the order of calls
  std::vector<std::uint32_t> chosen_, rows_;
};

}  // namespace tare::reader
