// Columns about calls that the tables of messages, collectives, requests and waits have in common.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "reader/events/event_table_schema.h"
#include "reader/events/row_table.h"
#include "reader/matching/message.h"

namespace tare::reader {

inline constexpr std::int64_t no_number = INT64_MIN;

inline std::int64_t as_number(std::uint64_t bytes) {
  return bytes == format::no_bytes ? no_number : static_cast<std::int64_t>(bytes);
}

// The dictionaries of a table, and the columns that use them.
struct TableTexts {
  explicit TableTexts(Run& run) : texts(run, true), schema(texts.schema()) {}
  const arrow::Field& like(EventColumn column) const { return schema[static_cast<std::size_t>(column)]; }

  EventTexts texts;
  arrow::Schema schema;
};
using SharedTexts = std::shared_ptr<const TableTexts>;

// The columns about a call: thread, function, place and time.
template <class Row, class Of>
void add_call(std::vector<RowColumn<Row>>& to, const SharedTexts& texts, const std::string& prefix, Of call_of) {
  using namespace row_columns;
  const auto numbers = [&](const char* name, auto of) {
    to.push_back(index<Row>((prefix + name).c_str(), [call_of, of](const Row& row) {
      const PartCall* call = call_of(row);
      return call == nullptr ? -1 : of(*call);
    }));
  };
  const auto words = [&](const char* name, EventColumn like, auto of) {
    to.push_back(text<Row>((prefix + name).c_str(), texts->like(like), [call_of, of](const Row& row) {
      const PartCall* call = call_of(row);
      return call == nullptr ? absent : of(*call);
    }));
  };
  numbers("thread", [](const PartCall& call) { return static_cast<std::int32_t>(call.thread); });
  words("function", EventColumn::function,
        [texts](const PartCall& call) { return texts->texts.function(call.function); });
  numbers("site", [](const PartCall& call) { return call.site; });
  words("caller", EventColumn::caller, [texts](const PartCall& call) { return texts->texts.site(call.site).caller; });
  words("file", EventColumn::file, [texts](const PartCall& call) { return texts->texts.site(call.site).file; });
  to.push_back(int32<Row>((prefix + "line").c_str(), [call_of, texts](const Row& row) {
    const PartCall* call = call_of(row);
    return call == nullptr ? absent : texts->texts.site(call->site).line;
  }));
}

template <class Row, class Of>
void add_times(std::vector<RowColumn<Row>>& to, const std::string& enter, const std::string& leave, Of call_of) {
  using namespace row_columns;
  to.push_back(int64<Row>(enter.c_str(), [call_of](const Row& row) {
    const PartCall* call = call_of(row);
    return call == nullptr ? no_number : call->enter_ns;
  }));
  to.push_back(int64<Row>(leave.c_str(), [call_of](const Row& row) {
    const PartCall* call = call_of(row);
    return call == nullptr ? no_number : call->leave_ns;
  }));
}

}  // namespace tare::reader
