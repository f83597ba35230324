// The tables of messages and collective operations.
#include <algorithm>

#include "reader/matching/call_columns.h"
#include "reader/matching/match_stream.h"

namespace tare::reader {
namespace {

rows::Messages row_of(const Message& message, std::int64_t number, const RunTexts& texts) {
  const auto call = [&](const Part& part) {
    return part.rank < 0 ? rows::TracedCall{} : traced_call(part.posted, texts);
  };
  const auto completion = [](const Part& part) {
    return part.rank < 0 || !part.is_complete ? rows::Completion{} : completion_of(part.completed);
  };
  return {.message = number,
          .world = message.world,
          .communicator = texts.communicator(message.communicator),
          .source = if_known(message.source),
          .destination = if_known(message.destination),
          .tag = message.tag,
          .bytes = bytes_if_known(message.sent.bytes),
          .received_bytes = bytes_if_known(message.received.bytes),
          .unexpected = message.is_matched() ? std::optional(message.is_unexpected()) : std::nullopt,
          .queued = message.received.queued ? std::optional(static_cast<std::int32_t>(*message.received.queued))
                                            : std::nullopt,
          .send_traced_call = call(message.sent),
          .send_completion = completion(message.sent),
          .receive_traced_call = call(message.received),
          .receive_completion = completion(message.received)};
}

// Appends a row for each rank's part of an operation.
void append(std::vector<rows::Collectives>& to, const Collective& of, std::int64_t operation, const RunTexts& texts) {
  const auto later = [](const Part& a, const Part& b) { return a.posted.enter_ns < b.posted.enter_ns; };
  const auto [first, last] = std::minmax_element(of.parts.begin(), of.parts.end(), later);
  const RunTexts::Scope& scope = texts.scope(of.scope);
  for (const Part& part : of.parts) {
    const rows::Completion completion = part.is_complete ? completion_of(part.completed) : rows::Completion{};
    to.push_back({.operation = operation,
                  .world = of.world,
                  .communicator = texts.communicator(of.communicator),
                  .window = scope.is_file ? Text{} : scope.name,
                  .mpi_file = scope.is_file ? scope.name : Text{},
                  .number = static_cast<std::int64_t>(of.number),
                  .size = if_known(of.size),
                  .root = if_known(of.root_world),
                  .rank = part.rank,
                  .thread = static_cast<std::int32_t>(part.posted.thread),
                  .call = texts.call(part.posted.function, part.posted.site),
                  .bytes = bytes_if_known(part.bytes),
                  .ends = ends_of(part.posted),
                  .completion_site = completion.completion_site,
                  .completion_enter_ns = completion.completion_enter_ns,
                  .completion_leave_ns = completion.completion_leave_ns,
                  .first_enter_ns = first->posted.enter_ns,
                  .last_enter_ns = last->posted.enter_ns,
                  .last_rank = if_known(last->rank)});
  }
}

// A table of matches. `take` makes its rows.
template <class Row, class Take>
Result<TableStream> table_of(Run& run, const Take& take) {
  auto opened = MatchStream::open(run);
  if (!opened) return opened.failure();
  const auto matches = std::make_shared<MatchStream>(std::move(*opened));
  const auto texts = std::make_shared<const RunTexts>(run, SiteTexts::lines);
  const auto more = [matches, texts, take, number = std::int64_t{0}](std::vector<Row>& rows) mutable {
    while (rows.empty() && matches->next()) take(*matches, rows, number, *texts);
  };
  return streamed_table<Row>(*texts, more, [matches] { return matches->warnings(); });
}

}  // namespace

Result<TableStream> message_table(Run& run) {
  const auto take = [](MatchStream& from, std::vector<rows::Messages>& rows, std::int64_t& number,
                       const RunTexts& texts) {
    for (const Message& message : from.messages()) rows.push_back(row_of(message, number++, texts));
  };
  return table_of<rows::Messages>(run, take);
}

Result<TableStream> collective_table(Run& run) {
  const auto take = [](MatchStream& from, std::vector<rows::Collectives>& rows, std::int64_t& number,
                       const RunTexts& texts) {
    for (const Collective& collective : from.collectives()) append(rows, collective, number++, texts);
  };
  return table_of<rows::Collectives>(run, take);
}

}  // namespace tare::reader
