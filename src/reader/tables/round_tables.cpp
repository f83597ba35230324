#include "reader/tables/round_tables.h"

#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reader/tables/round_rows.h"
#include "reader/tables/stored_rows.h"
#include "reader/time_arithmetic.h"

namespace tare::reader {
namespace {

using namespace row_columns;

constexpr double nothing = std::numeric_limits<double>::lowest();

// The fields that all rows of a round have in common.
struct About {
  std::int64_t round = 0, first_ns = 0, delay_ns = 0, spread_ns = 0;
  std::int32_t contributing = 0, lost = 0, lost_ranks = absent;
};

template <class Found>
struct RowOf : Found {
  About about;
  std::int32_t event_number = absent, kind = absent, metric_number = absent, filter = absent, ranks_text = absent,
               result_text = absent;
};

// The dictionaries of both tables.
struct Texts {
  arrow::Dictionary events, kinds, metrics, filters, lost, ranks, results;
};

About about_of(const StoredRound& round, Texts& texts) {
  return {.round = static_cast<std::int64_t>(round.round),
          .first_ns = round.first_offload_ns,
          .delay_ns = round.delay_ns(),
          .spread_ns = difference(round.last_offload_ns, round.first_offload_ns),
          .contributing = static_cast<std::int32_t>(round.ranks.size()),
          .lost = static_cast<std::int32_t>(round.lost.size()),
          .lost_ranks = round.lost.empty() ? absent : texts.lost.number_of(round.lost.text())};
}

// Reads the rounds of all hosts, file by file. Damaged chunks are left out.
template <class Visit>
void each_round(Run& run, const Visit& visit) {
  std::map<std::uint32_t, RoundReader> readers;  // by file
  std::vector<char> payload;
  std::string error;
  for (const ChunkRef& chunk : run.files().chunks) {
    if (chunk.header.type != format::ChunkType::rounds || !load_chunk(chunk, payload, error)) continue;
    RoundReader& reader = readers[chunk.file];
    reader.read({payload.data(), payload.size()}, [&](const StoredRound& round) { visit(*reader.names(), round); });
  }
}

template <class Row>
void add(std::vector<RowColumn<Row>>& columns, std::vector<RowColumn<Row>> more) {
  for (RowColumn<Row>& column : more) columns.push_back(std::move(column));
}

template <class Row>
std::vector<RowColumn<Row>> first_columns() {
  return {int64<Row>("round", [](const Row& row) { return row.about.round; }),
          int64<Row>("time_ns", [](const Row& row) { return row.about.first_ns; })};
}

template <class Row>
std::vector<RowColumn<Row>> last_columns(const Texts& texts) {
  const arrow::Field lost{{}, arrow::Type::dictionary, true, {}, texts.lost.array()};
  return {int32<Row>("contributing", [](const Row& row) { return row.about.contributing; }),
          int32<Row>("lost", [](const Row& row) { return row.about.lost; }),
          text<Row>("lost_ranks", lost, [](const Row& row) { return row.about.lost_ranks; }),
          int64<Row>("delay_ns", [](const Row& row) { return row.about.delay_ns; }),
          int64<Row>("spread_ns", [](const Row& row) { return row.about.spread_ns; })};
}

template <class Row>
std::vector<RowColumn<Row>> event_columns(const Texts& texts) {
  return {text_column("event", texts.events, &Row::event_number), text_column("kind", texts.kinds, &Row::kind),
          text_column("metric", texts.metrics, &Row::metric_number)};
}

template <class Row>
RowColumn<Row> number(const char* name, std::optional<double> ReductionRow::*of) {
  return nullable<Row, double>({name, arrow::Type::float64}, nothing,
                               [of](const Row& row) { return (row.*of).value_or(nothing); });
}

}  // namespace

Result<TableStream> round_table(Run& run) {
  using Row = RowOf<StatisticRow>;
  Texts texts;
  std::vector<Row> rows;
  each_round(run, [&](const RoundNames& names, const StoredRound& round) {
    const std::vector<StatisticRow> found = statistic_rows(names, round);
    if (found.empty()) return;
    const About about = about_of(round, texts);
    for (const StatisticRow& statistic : found) {
      Row& row = rows.emplace_back(Row{statistic, about});
      row.event_number = texts.events.number_of(row.event.name);
      row.kind = texts.kinds.number_of(format::name_of(row.event.kind));
      row.metric_number = texts.metrics.number_of(row.metric);
    }
  });
  std::vector<RowColumn<Row>> columns = first_columns<Row>();
  add(columns, event_columns<Row>(texts));
  add<Row>(
      columns,
      {int32<Row>("ranks", [](const Row& row) { return static_cast<std::int32_t>(row.statistic.ranks); }),
       float64<Row>("mean", [](const Row& row) { return row.statistic.mean; }),
       float64<Row>("deviation", [](const Row& row) { return row.statistic.deviation(); }),
       float64<Row>("least", [](const Row& row) { return row.statistic.least; }),
       float64<Row>("most", [](const Row& row) { return row.statistic.most; }),
       int32<Row>("least_rank", [](const Row& row) { return static_cast<std::int32_t>(row.statistic.least_rank); }),
       int32<Row>("most_rank", [](const Row& row) { return static_cast<std::int32_t>(row.statistic.most_rank); })});
  add(columns, last_columns<Row>(texts));
  return stream_of(std::move(columns), std::move(rows));
}

Result<TableStream> reduction_table(Run& run) {
  using Row = RowOf<ReductionRow>;
  Texts texts;
  std::vector<Row> rows;
  each_round(run, [&](const RoundNames& names, const StoredRound& round) {
    if (round.results.empty()) return;
    const About about = about_of(round, texts);
    for (const format::FilterResult& result : round.results) {
      if (result.filter.empty() || result.filter == format::statistics_filter) continue;
      for (ReductionRow& found : reduction_rows(names, result)) {
        Row& row = rows.emplace_back(Row{std::move(found), about});
        row.filter = texts.filters.number_of(result.filter);
        if (row.event) {
          row.event_number = texts.events.number_of(row.event->name);
          row.kind = texts.kinds.number_of(format::name_of(row.event->kind));
          row.metric_number = texts.metrics.number_of(row.metric);
        }
        if (row.ranks) row.ranks_text = texts.ranks.number_of(*row.ranks);
        if (row.result) row.result_text = texts.results.number_of(*row.result);
      }
    }
  });
  std::vector<RowColumn<Row>> columns = first_columns<Row>();
  columns.push_back(text_column("filter", texts.filters, &Row::filter));
  add(columns, event_columns<Row>(texts));
  add<Row>(columns, {number<Row>("low", &Row::low), number<Row>("high", &Row::high),
                     number<Row>("quantile", &Row::quantile), number<Row>("value", &Row::value),
                     int64<Row>("count", [](const Row& row) { return row.count.value_or(INT64_MIN); }),
                     text_column("ranks", texts.ranks, &Row::ranks_text),
                     text_column("result", texts.results, &Row::result_text)});
  add(columns, last_columns<Row>(texts));
  return stream_of(std::move(columns), std::move(rows));
}

}  // namespace tare::reader
