#include "reader/matching/request_table.h"

#include <unordered_map>
#include <utility>

#include "reader/events/event_stream.h"
#include "reader/matching/call_columns.h"
#include "reader/time_arithmetic.h"

namespace tare::reader {
namespace {

constexpr std::size_t max_started = 1U << 15;
constexpr std::size_t batch_rows = 4096;

struct RequestRow {
  std::int32_t world = 0, rank = -1;
  std::int32_t communicator = -1;
  std::int32_t peer_world = format::no_peer, tag = format::no_tag;
  std::uint64_t bytes = format::no_bytes;
  std::uint32_t number = 0;
  bool is_complete = false;
  PartCall started, completed;
};

class Requests {
 public:
  explicit Requests(Run& run) : roles_(roles_of_calls(run.functions())), under_way_(run.processes().size()) {}

  void add(const EventRow& row, std::vector<RequestRow>& to) {
    if (row.kind != EventKind::call || row.process >= under_way_.size()) return;
    const PartCall call{row.start_ns, sum(row.start_ns, row.duration_ns), 0, row.thread, row.site, row.function};
    if (roles_[row.function] == CallRole::completes) return complete(row, call, to);
    if (row.request != format::no_request) {
      start(row, call,
            {row.request, row.starter, row.request, row.communicator, row.peer, row.peer_world, row.tag, row.bytes},
            to);
      return;
    }
    for (const EventRequest& each : row.requests)
      if (each.request != format::no_request) start(row, call, each, to);
  }

  void finish(std::vector<RequestRow>& to) {
    for (auto& process : under_way_) hand_over(process, to);
  }

 private:
  using Started = std::unordered_map<std::uint64_t, RequestRow>;

  static std::uint64_t key_of(const EventRow& row, const EventRequest& of) {
    return std::uint64_t{of.starter == UINT32_MAX ? row.thread : of.starter} << 32 | of.request;
  }

  static void hand_over(Started& of, std::vector<RequestRow>& to) {
    for (auto& [key, request] : of) to.push_back(request);
    of.clear();
  }

  void start(const EventRow& row, const PartCall& call, const EventRequest& of, std::vector<RequestRow>& to) {
    Started& started = under_way_[row.process];
    // So many can only be freed requests, whose completion is not in the trace.
    if (started.size() >= max_started) hand_over(started, to);
    started[key_of(row, of)] = {row.world, row.rank,   of.communicator, of.peer_world, of.tag,
                                of.bytes,  of.request, false,           call,          {}};
  }

  void complete(const EventRow& row, const PartCall& call, std::vector<RequestRow>& to) {
    for (const EventRequest& each : row.requests) {
      auto found = under_way_[row.process].extract(key_of(row, each));
      if (found.empty()) continue;  // its start is not in the trace
      RequestRow& request = found.mapped();
      request.is_complete = true;
      request.completed = call;
      // The completion has the source and tag of the message that a receive with wildcards took.
      if (each.bytes != format::no_bytes) request.bytes = each.bytes;
      if (request.peer_world < 0 && each.peer_world >= 0) request.peer_world = each.peer_world;
      if (request.tag < 0 && each.tag >= 0) request.tag = each.tag;
      to.push_back(request);
    }
  }

  std::vector<CallRole> roles_;
  std::vector<Started> under_way_;  // by process
};

std::vector<RowColumn<RequestRow>> request_columns(const SharedTexts& texts) {
  using namespace row_columns;
  using Row = RequestRow;
  std::vector<RowColumn<Row>> columns{
      index<Row>("world", [](const Row& row) { return row.world; }),
      index<Row>("rank", [](const Row& row) { return row.rank; }),
      int64<Row>("request", [](const Row& row) { return static_cast<std::int64_t>(row.number); }),
      text<Row>("communicator", texts->like(EventColumn::communicator),
                [texts](const Row& row) { return texts->texts.communicator(row.communicator).name; }),
      text<Row>("communicator_key", texts->like(EventColumn::communicator_key),
                [texts](const Row& row) { return texts->texts.communicator(row.communicator).key; }),
      index<Row>("peer_world", [](const Row& row) { return row.peer_world; }),
      index<Row>("tag", [](const Row& row) { return row.tag; }),
      int64<Row>("bytes", [](const Row& row) { return as_number(row.bytes); })};
  add_call<Row>(columns, texts, "", [](const Row& row) { return &row.started; });
  add_times<Row>(columns, "enter_ns", "leave_ns", [](const Row& row) { return &row.started; });
  const auto completed = [](const Row& row) { return row.is_complete ? &row.completed : nullptr; };
  add_call<Row>(columns, texts, "completion_", completed);
  add_times<Row>(columns, "completion_enter_ns", "completion_leave_ns", completed);
  return columns;
}

}  // namespace

Result<TableStream> request_table(Run& run) {
  EventFilter filter;
  filter.lists_all_requests = true;
  auto opened = EventStream::open(run, filter);
  if (!opened) return opened.failure();
  const auto events = std::make_shared<EventStream>(std::move(*opened));
  const auto requests = std::make_shared<Requests>(run);
  const auto more = [events, requests, is_finished = false](std::vector<RequestRow>& rows) mutable {
    while (rows.empty() && !is_finished) {
      const auto some = events->next(batch_rows);
      for (const EventRow& row : some) requests->add(row, rows);
      if (!some.empty()) continue;
      is_finished = true;
      requests->finish(rows);
    }
  };
  const auto texts = std::make_shared<const TableTexts>(run);
  auto table = std::make_shared<RowTable<RequestRow>>(request_columns(texts), more);
  return TableStream{table->schema(), [table](std::vector<arrow::Array>& out) { return table->next(out); },
                     [events] { return events->warnings(); }};
}

}  // namespace tare::reader
