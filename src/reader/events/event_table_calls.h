// The part of the table of events that holds MPI calls.
#pragma once

#include <cstdint>
#include <vector>

#include "format/event_columns.h"
#include "reader/events/chunk_calls.h"
#include "reader/events/event_batch.h"
#include "reader/events/event_table_context.h"

namespace tare::reader {

class CallTable {
 public:
  explicit CallTable(const TableContext& context) : context_(context), calls_(context) {}

  // The next chunks belong to another block.
  void start_block() { calls_ = ChunkCalls(context_); }
  // Fills the batch with the calls of the next chunk of the block (ChunkCalls::read), and sets the number of rows.
  void fill(const format::EventColumns& chunk, const ChunkPlace& place, EventBatch& batch);

 private:
  static constexpr auto first_column = static_cast<std::size_t>(EventColumn::function);
  static constexpr auto value_columns = static_cast<std::size_t>(EventColumn::source_tag) - first_column + 1;

  // The values that all calls of a signature have in common. The 32-bit ones are neighbours in the table.
  struct Values {
    std::int32_t columns[value_columns];

    std::int32_t& operator[](EventColumn column) { return columns[static_cast<std::size_t>(column) - first_column]; }
  };
  void value_signatures();
  void fill_values(EventBatch& batch);
  void fill_messages(EventBatch& batch) const;
  void fill_requests(EventBatch& batch);

  const TableContext& context_;
  ChunkCalls calls_;
  std::vector<Values> values_;  // by signature
};

}  // namespace tare::reader
