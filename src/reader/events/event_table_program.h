// The part of the table of events with the events that the program recorded with the API.
#pragma once

#include <cstdint>
#include <vector>

#include "format/event_columns.h"
#include "reader/events/event_batch.h"
#include "reader/events/event_table_context.h"

namespace tare::reader {

class ProgramEventTable {
 public:
  explicit ProgramEventTable(const TableContext& context);

  // Fill the batch with the events, or the raw events, of a chunk, and set the number of rows. Unwanted events are
  // removed from `chunk`.
  void fill(format::EventColumns& chunk, const ChunkPlace& place, EventBatch& batch);
  void fill_raw(format::EventColumns& chunk, const ChunkPlace& place, EventBatch& batch);

 private:
  // For events that are not raw, by index in Run::event_types(); the last entry is for lost definitions.
  struct Type {
    format::EventClass event_class;
    std::vector<format::ParameterType> parameters;
  };

  void find_types(const format::EventColumns::Events& events, const ChunkPlace& place);
  bool choose(const format::EventColumns::Events& events);
  const Type& type_of(std::size_t event) const;
  void fill_heads(EventBatch& batch) const;
  void fill_classes(const format::EventColumns& chunk, EventBatch& batch) const;
  void fill_parameters(const format::EventColumns& chunk, EventBatch& batch) const;

  const TableContext& context_;
  std::vector<Type> types_;
  // For the current chunk; the memory is reused.
  std::vector<std::int32_t> type_;  // by event: index in Run::event_types(); -1: its definition is lost
  std::vector<std::uint64_t> ticks_;
  std::vector<std::int64_t> start_ns_;
  std::vector<std::uint32_t> chosen_, first_;
  std::vector<std::uint64_t> words_;
  std::string text_;
};

}  // namespace tare::reader
