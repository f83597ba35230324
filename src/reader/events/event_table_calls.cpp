#include "reader/events/event_table_calls.h"

#include <algorithm>
#include <utility>

#include "reader/events/row_table.h"

namespace tare::reader {
namespace {

using namespace tare::format;
using Column = EventColumn;

constexpr std::int64_t absent_bytes = -1;
constexpr std::int64_t absent_request = no_request;
static_assert(no_peer == absent && no_tag == absent && static_cast<std::int64_t>(no_bytes) == absent_bytes);

std::int32_t starter_of(const EventRequest& request) {
  return request.starter == UINT32_MAX ? absent : static_cast<std::int32_t>(request.starter);
}

}  // namespace

void CallTable::fill(const EventColumns& chunk, const ChunkPlace& place, EventBatch& batch) {
  calls_.read(chunk, place);
  batch.set_rows(calls_.count());
  if (batch.rows() == 0) return;
  value_signatures();
  fill_values(batch);
  fill_messages(batch);
  if (batch.wants(Column::requests)) fill_requests(batch);
}

void CallTable::value_signatures() {
  values_.resize(calls_.values.size());
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (calls_.values[i].kind != EventKind::call) continue;
    Values& v = values_[i];
    const EventRow& call = calls_.values[i];
    const rows::Frame& frame = context_.texts.place(call.site).frame;
    const rows::Communicator& of_communicator = context_.texts.communicator(call.communicator);
    const RunTexts::Scope& of_scope = context_.texts.scope(call.scope);
    v[Column::function] = context_.texts.function(call.function).number;
    v[Column::site] = call.site < 0 ? absent : call.site;
    v[Column::caller] = frame.caller.number;
    v[Column::file] = frame.file.number;
    v[Column::line] = frame.line.value_or(absent);
    v[Column::communicator] = of_communicator.communicator.number;
    v[Column::communicator_key] = of_communicator.communicator_key.number;
    v[Column::window] = of_scope.is_file ? absent : of_scope.name.number;
    v[Column::window_key] = of_scope.is_file ? absent : of_scope.key.number;
    v[Column::mpi_file] = of_scope.is_file ? of_scope.name.number : absent;
    v[Column::mpi_file_key] = of_scope.is_file ? of_scope.key.number : absent;
    v[Column::root] = call.rooted ? call.peer : absent;
    v[Column::source] = call.source;
    v[Column::source_world] = call.source_world;
    v[Column::source_tag] = call.source_tag;
  }
}

// Fills the columns of times and of values that depend on the signature alone.
void CallTable::fill_values(EventBatch& batch) {
  const std::size_t n = batch.rows();
  if (batch.wants(Column::start_ns)) std::copy_n(calls_.start_ns.data(), n, batch.fill<std::int64_t>(Column::start_ns));
  if (batch.wants(Column::duration_ns))
    std::copy_n(calls_.duration_ns.data(), n, batch.fill<std::int64_t>(Column::duration_ns));
  for (std::size_t i = 0; i < value_columns; ++i) {
    const auto column = static_cast<Column>(first_column + i);
    if (column == Column::peer || column == Column::peer_world || column == Column::tag || !batch.wants(column))
      continue;
    bool any = false, all = true;
    for (std::size_t k = 0; k < values_.size(); ++k) {
      if (calls_.values[k].kind != EventKind::call) continue;
      const bool is_there = values_[k].columns[i] != absent;
      any = any || is_there;
      all = all && is_there;
    }
    if (!any) continue;
    auto* out = batch.fill<std::int32_t>(column);
    for (std::size_t r = 0; r < n; ++r) out[r] = values_[calls_.signature[r]].columns[i];
    if (!all) batch.mark_absent(column, out, absent);
  }
}

void CallTable::fill_messages(EventBatch& batch) const {
  const std::vector<EventRequest>& of = calls_.messages;
  const auto values = [&](std::size_t i) -> const EventRow& { return calls_.values[calls_.signature[i]]; };
  batch.fill(Column::peer, absent, [&](std::size_t i) { return values(i).rooted ? absent : of[i].peer; });
  batch.fill(Column::peer_world, absent, [&](std::size_t i) { return values(i).rooted ? absent : of[i].peer_world; });
  batch.fill(Column::tag, absent, [&](std::size_t i) { return of[i].tag; });
  batch.fill(Column::bytes, absent_bytes, [&](std::size_t i) { return as_int64(of[i].bytes); });
  batch.fill(Column::received, absent_bytes, [&](std::size_t i) { return as_int64(values(i).received); });
  batch.fill(Column::request, absent_request, [&](std::size_t i) { return std::int64_t{of[i].request}; });
  batch.fill(Column::starter, absent, [&](std::size_t i) { return starter_of(of[i]); });
}

// Fills the column of lists, for calls with several requests.
void CallTable::fill_requests(EventBatch& batch) {
  const auto is_alone = [&](std::size_t i) {
    const std::uint32_t call = calls_.requests[i].call;
    return (i == 0 || calls_.requests[i - 1].call != call) &&
           (i + 1 == calls_.requests.size() || calls_.requests[i + 1].call != call);
  };
  std::size_t count = 0;
  for (std::size_t i = 0; i < calls_.requests.size(); ++i) {
    if (is_alone(i)) continue;
    if (count != i) calls_.requests[count] = calls_.requests[i];
    ++count;
  }
  calls_.requests.resize(count);
  if (count == 0) return;
  const std::size_t n = batch.rows();
  auto* first = batch.arena()->allocate<std::int32_t>(n + 1);
  auto* bits = batch.arena()->allocate<std::uint8_t>(n / 8 + 1);
  std::fill_n(bits, n / 8 + 1, 0);
  std::size_t at = 0, lists = 0;
  for (std::size_t r = 0; r < n; ++r) {
    first[r] = static_cast<std::int32_t>(at);
    const std::size_t before = at;
    while (at < count && calls_.requests[at].call == r) ++at;
    if (at == before) continue;
    bits[r / 8] = static_cast<std::uint8_t>(bits[r / 8] | 1U << r % 8);
    ++lists;
  }
  first[n] = static_cast<std::int32_t>(at);

  arrow::Array items{count, 0, {}, {}, {}, {}};
  const auto add = [&](const auto& value_of, auto nothing) {
    auto* values = batch.arena()->allocate<decltype(nothing)>(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = value_of(calls_.requests[i]);
    arrow::Array& column = items.children.emplace_back(arrow::Array{count, 0, {}, {values, batch.arena()}, {}, {}});
    mark_absent(column, values, nothing, batch.arena());
  };
  const RunTexts& texts = context_.texts;
  // In the order of the schema (event_tables.cpp).
  add([](const EventRequest& r) { return std::int64_t{r.request}; }, absent_request);
  add(starter_of, absent);
  add([&](const EventRequest& r) { return texts.communicator(r.communicator).communicator.number; }, absent);
  add([&](const EventRequest& r) { return texts.communicator(r.communicator).communicator_key.number; }, absent);
  add([](const EventRequest& r) { return r.peer; }, absent);
  add([](const EventRequest& r) { return r.peer_world; }, absent);
  add([](const EventRequest& r) { return r.tag; }, absent);
  add([](const EventRequest& r) { return as_int64(r.bytes); }, absent_bytes);
  arrow::Array& list = batch.array(Column::requests);
  list = {n, static_cast<std::int64_t>(n - lists), {bits, batch.arena()}, {first, batch.arena()}, {}, {}};
  list.children.push_back(std::move(items));
}

}  // namespace tare::reader
