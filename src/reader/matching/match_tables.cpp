#include "reader/matching/match_tables.h"

#include <utility>

#include "reader/matching/call_columns.h"
#include "reader/matching/match_stream.h"

namespace tare::reader {
namespace {

struct MessageRow {
  std::int64_t number;
  Message message;
};

std::vector<RowColumn<MessageRow>> message_columns(const SharedTexts& texts) {
  using namespace row_columns;
  using Row = MessageRow;
  std::vector<RowColumn<Row>> columns{
      int64<Row>("message", [](const Row& row) { return row.number; }),
      index<Row>("world", [](const Row& row) { return row.message.world; }),
      text<Row>("communicator", texts->like(EventColumn::communicator),
                [texts](const Row& row) { return texts->texts.communicator(row.message.communicator).name; }),
      text<Row>("communicator_key", texts->like(EventColumn::communicator_key),
                [texts](const Row& row) { return texts->texts.communicator(row.message.communicator).key; }),
      index<Row>("source", [](const Row& row) { return row.message.source; }),
      index<Row>("destination", [](const Row& row) { return row.message.destination; }),
      int32<Row>("tag", [](const Row& row) { return row.message.tag; }),
      int64<Row>("bytes", [](const Row& row) { return as_number(row.message.sent.bytes); }),
      int64<Row>("received_bytes", [](const Row& row) { return as_number(row.message.received.bytes); })};
  const auto add = [&](const std::string& name, auto part_of) {
    const auto posted = [part_of](const Row& row) -> const PartCall* {
      const Part& part = part_of(row.message);
      return part.rank < 0 ? nullptr : &part.posted;
    };
    const auto completed = [part_of](const Row& row) -> const PartCall* {
      const Part& part = part_of(row.message);
      return part.rank < 0 || !part.is_complete ? nullptr : &part.completed;
    };
    add_call<Row>(columns, texts, name + "_", posted);
    add_times<Row>(columns, name + "_enter_ns", name + "_leave_ns", posted);
    columns.push_back(index<Row>((name + "_completion_thread").c_str(), [completed](const Row& row) {
      const PartCall* call = completed(row);
      return call == nullptr ? -1 : static_cast<std::int32_t>(call->thread);
    }));
    columns.push_back(index<Row>((name + "_completion_site").c_str(), [completed](const Row& row) {
      const PartCall* call = completed(row);
      return call == nullptr ? -1 : call->site;
    }));
    add_times<Row>(columns, name + "_completion_enter_ns", name + "_completion_leave_ns", completed);
  };
  add("send", [](const Message& message) -> const Part& { return message.sent; });
  add("receive", [](const Message& message) -> const Part& { return message.received; });
  return columns;
}

// One rank's part of an operation.
struct PartRow {
  std::int64_t operation;
  std::shared_ptr<const Collective> of;
  std::size_t part;
  std::int64_t first_enter_ns, last_enter_ns;
  std::int32_t last_rank;

  const Part& own() const { return of->parts[part]; }
};

std::vector<RowColumn<PartRow>> collective_columns(Run& run, const SharedTexts& texts) {
  using namespace row_columns;
  using Row = PartRow;
  const auto scope_of = [texts, &run](const Row& row, bool is_file) {
    if (row.of->scope < 0 || run.scopes()[static_cast<std::size_t>(row.of->scope)].is_file != is_file) return absent;
    return texts->texts.scope(row.of->scope).name;
  };
  std::vector<RowColumn<Row>> columns{
      int64<Row>("operation", [](const Row& row) { return row.operation; }),
      index<Row>("world", [](const Row& row) { return row.of->world; }),
      text<Row>("communicator", texts->like(EventColumn::communicator),
                [texts](const Row& row) { return texts->texts.communicator(row.of->communicator).name; }),
      text<Row>("communicator_key", texts->like(EventColumn::communicator_key),
                [texts](const Row& row) { return texts->texts.communicator(row.of->communicator).key; }),
      text<Row>("window", texts->like(EventColumn::window),
                [scope_of](const Row& row) { return scope_of(row, false); }),
      text<Row>("mpi_file", texts->like(EventColumn::mpi_file),
                [scope_of](const Row& row) { return scope_of(row, true); }),
      int64<Row>("number", [](const Row& row) { return static_cast<std::int64_t>(row.of->number); }),
      index<Row>("size", [](const Row& row) { return row.of->size; }),
      index<Row>("root", [](const Row& row) { return row.of->root_world; }),
      index<Row>("rank", [](const Row& row) { return row.own().rank; })};
  const auto posted = [](const Row& row) { return &row.own().posted; };
  const auto completed = [](const Row& row) -> const PartCall* {
    return row.own().is_complete ? &row.own().completed : nullptr;
  };
  add_call<Row>(columns, texts, "", posted);
  columns.push_back(int64<Row>("bytes", [](const Row& row) { return as_number(row.own().bytes); }));
  add_times<Row>(columns, "enter_ns", "leave_ns", posted);
  columns.push_back(index<Row>("completion_site", [completed](const Row& row) {
    const PartCall* call = completed(row);
    return call == nullptr ? -1 : call->site;
  }));
  add_times<Row>(columns, "completion_enter_ns", "completion_leave_ns", completed);
  columns.push_back(int64<Row>("first_enter_ns", [](const Row& row) { return row.first_enter_ns; }));
  columns.push_back(int64<Row>("last_enter_ns", [](const Row& row) { return row.last_enter_ns; }));
  columns.push_back(index<Row>("last_rank", [](const Row& row) { return row.last_rank; }));
  return columns;
}

void append(std::vector<PartRow>& rows, Collective&& of, std::int64_t operation) {
  const auto shared = std::make_shared<const Collective>(std::move(of));
  PartRow row{operation, shared, 0, INT64_MAX, INT64_MIN, -1};
  for (const Part& part : shared->parts) {
    row.first_enter_ns = std::min(row.first_enter_ns, part.posted.enter_ns);
    if (part.posted.enter_ns > row.last_enter_ns) {
      row.last_enter_ns = part.posted.enter_ns;
      row.last_rank = part.rank;
    }
  }
  for (; row.part < shared->parts.size(); ++row.part) rows.push_back(row);
}

// A table of matches. `take` makes its rows.
template <class Row, class Take>
Result<TableStream> table_of(Run& run, std::vector<RowColumn<Row>> columns, const Take& take) {
  auto opened = MatchStream::open(run);
  if (!opened) return opened.failure();
  auto matches = std::make_shared<MatchStream>(std::move(*opened));
  const auto more = [matches, take, number = std::int64_t{0}](std::vector<Row>& rows) mutable {
    while (rows.empty() && matches->next()) take(*matches, rows, number);
  };
  auto table = std::make_shared<RowTable<Row>>(std::move(columns), more);
  return TableStream{table->schema(), [table](std::vector<arrow::Array>& out) { return table->next(out); },
                     [matches] { return matches->warnings(); }};
}

}  // namespace

Result<TableStream> message_table(Run& run) {
  const auto texts = std::make_shared<const TableTexts>(run);
  const auto take = [](MatchStream& from, std::vector<MessageRow>& rows, std::int64_t& number) {
    for (const Message& message : from.messages()) rows.push_back({number++, message});
  };
  return table_of<MessageRow>(run, message_columns(texts), take);
}

Result<TableStream> collective_table(Run& run) {
  const auto texts = std::make_shared<const TableTexts>(run);
  const auto take = [](MatchStream& from, std::vector<PartRow>& rows, std::int64_t& number) {
    for (Collective& collective : from.collectives()) append(rows, std::move(collective), number++);
  };
  return table_of<PartRow>(run, collective_columns(run, texts), take);
}

}  // namespace tare::reader
