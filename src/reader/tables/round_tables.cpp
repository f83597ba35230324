// The tables of rounds and of what filters made of them.
#include <map>

#include "reader/events/row_table.h"
#include "reader/tables/round_rows.h"
#include "reader/time_arithmetic.h"

namespace tare::reader {
namespace {

rows::RoundBegin begin_of(const StoredRound& round) {
  return {.round = static_cast<std::int64_t>(round.round), .time_ns = round.first_offload_ns};
}

rows::RoundEnd end_of(const StoredRound& round, RunTexts& texts) {
  return {.contributing = static_cast<std::int32_t>(round.ranks.size()),
          .lost = static_cast<std::int32_t>(round.lost.size()),
          .lost_ranks = round.lost.empty() ? Text{} : texts.of("lost_ranks").number_of(round.lost.text()),
          .delay_ns = round.delay_ns(),
          .spread_ns = difference(round.last_offload_ns, round.first_offload_ns)};
}

Text metric_of(const char* metric, RunTexts& texts) { return texts.of("metric").number_of(metric); }
Text kind_of(const RoundEvent& event, RunTexts& texts) {
  return texts.of("kind").number_of(format::name_of(event.kind));
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

}  // namespace

Result<TableStream> round_table(Run& run) {
  RunTexts texts(run, SiteTexts::none);
  std::vector<rows::Rounds> rows;
  each_round(run, [&](const RoundNames& names, const StoredRound& round) {
    for (const StatisticRow& found : statistic_rows(names, round)) {
      const format::Statistic& of = found.statistic;
      rows.push_back({.round_begin = begin_of(round),
                      .event = texts.of("event").number_of(found.event.name),
                      .kind = kind_of(found.event, texts),
                      .metric = metric_of(found.metric, texts),
                      .ranks = static_cast<std::int32_t>(of.ranks),
                      .mean = of.mean,
                      .deviation = of.deviation(),
                      .least = of.least,
                      .most = of.most,
                      .least_rank = static_cast<std::int32_t>(of.least_rank),
                      .most_rank = static_cast<std::int32_t>(of.most_rank),
                      .round_end = end_of(round, texts)});
    }
  });
  return stored_table(std::move(rows), texts);
}

Result<TableStream> reduction_table(Run& run) {
  RunTexts texts(run, SiteTexts::none);
  std::vector<rows::Reductions> rows;
  const auto text = [&texts](const char* name, const std::optional<std::string>& of) {
    return of ? Text(texts.of(name).number_of(*of)) : Text{};
  };
  each_round(run, [&](const RoundNames& names, const StoredRound& round) {
    for (const format::FilterResult& result : round.results) {
      if (result.filter.empty() || result.filter == format::statistics_filter) continue;
      for (const ReductionRow& found : reduction_rows(names, result)) {
        const bool has_event = found.event.has_value();
        rows.push_back({.round_begin = begin_of(round),
                        .filter = texts.of("filter").number_of(result.filter),
                        .event = has_event ? Text(texts.of("event").number_of(found.event->name)) : Text{},
                        .kind = has_event ? kind_of(*found.event, texts) : Text{},
                        .metric = has_event ? metric_of(found.metric, texts) : Text{},
                        .low = found.low,
                        .high = found.high,
                        .quantile = found.quantile,
                        .value = found.value,
                        .count = found.count,
                        .ranks = text("ranks", found.ranks),
                        .result = text("result", found.result),
                        .round_end = end_of(round, texts)});
      }
    }
  });
  return stored_table(std::move(rows), texts);
}

}  // namespace tare::reader
