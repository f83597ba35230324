// Everything that a reader asks a run.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "format/chunk.h"
#include "reader/events/event_stream.h"
#include "reader/events/event_tables.h"
#include "reader/model/account.h"
#include "reader/model/locations.h"
#include "reader/replay/replay.h"
#include "reader/run/current_calls.h"
#include "reader/run/run.h"
#include "reader/store/round_events.h"
#include "reader/structure/iteration_curve.h"
#include "reader/tables/tables.h"
#include "reader/timeline/message_lines.h"
#include "reader/timeline/read_wait_lines.h"
#include "reader/timeline/timeline.h"
#include "reader/waits/wait_report.h"

namespace tare::fuzz {

// Returns how many rows there are.
inline std::size_t read_tables(reader::Run& run) {
  std::size_t rows = 0;
  auto tables = reader::event_table(run, {});
  if (!tables) return rows;
  const auto next = [&](std::vector<reader::arrow::Array>& columns) { return tables->next(columns); };
  ArrowArrayStream stream;
  reader::arrow::export_stream(tables->schema, next, stream);
  ArrowArray batch{};
  while (stream.get_next(&stream, &batch) == 0 && batch.release != nullptr) {
    rows += static_cast<std::size_t>(batch.length);
    batch.release(&batch);
  }
  stream.release(&stream);
  return rows;
}

// Tables that are made of what is matched.
inline void read_table(reader::Result<reader::TableStream> table) {
  std::vector<reader::arrow::Array> columns;
  while (table && table->next(columns) != 0) columns.clear();
}

// What the page's timeline asks: an overview, the calls, messages and waits of its middle, and a search.
inline void read_timeline(reader::Run& run) {
  auto timeline = reader::Timeline::read(run);
  if (!timeline) return;
  reader::Timeline::Window window{0, timeline->rows().size(), 1, timeline->start_ns(), timeline->end_ns()};
  timeline->bins(window, 64);
  const std::int64_t quarter = window.to_ns / 4 - window.from_ns / 4;
  window.from_ns += quarter;
  window.to_ns -= quarter;
  timeline->bins(window, 64);
  timeline->calls(window, 100);
  if (auto waits = reader::read_wait_lines(run, *timeline)) timeline->set_waits(std::move(*waits));
  timeline->bins(window, 64);
  timeline->waits(window, 100);
  timeline->path(window, 100);
  for (std::size_t row = 0; row < std::min<std::size_t>(timeline->rows().size(), 8); ++row)
    timeline->around(row, window.from_ns);
  timeline->find({.min_ns = 1}, 100);
  timeline->find_waits({.peer = 0}, 100);
  if (auto structure = reader::run_structure(run)) {
    std::vector<const reader::Loop*> loops;
    for (const reader::Loop& loop : structure->loops) loops.push_back(&loop);
    reader::iteration_curve(*timeline, loops, 100);
  }
  if (auto lines = reader::MessageLines::read(run, *timeline, 100)) lines->of(window, 100);
}

// What `tare top` asks of rounds.
inline void read_rounds(reader::Run& run) {
  std::vector<char> payload;
  std::string error;
  for (const reader::ChunkRef& chunk : run.files().chunks) {
    if (chunk.header.type != format::ChunkType::rounds || !reader::load_chunk(chunk, payload, error)) continue;
    reader::RoundReader reader;
    std::vector<reader::EventStatistics> before;
    reader.read({payload.data(), payload.size()}, [&](const reader::StoredRound& round) {
      auto events = reader::possible_events(*reader.names(), round);
      const std::vector<const std::vector<reader::EventStatistics>*> both{&before, &events};
      reader::merged_events(both);
      before = std::move(events);
      std::vector<reader::Bins> bins;
      for (auto& of : reader::histograms_of(*reader.names(), round.filter, round.reduced)) bins.push_back(of.bins);
      reader::merged_bins(bins).widened(62);
    });
  }
}

inline void read_all(reader::Run& run) {
  read_rounds(run);
  run.answer(
      {.sums =
           {{.world = true, .rank = true, .function = true, .site = true, .communicator = true, .size_class = true}},
       .peers = {reader::TablesQuery{.rank = true}},
       .phases = {reader::TablesQuery{}},
       .exchanges = {64}});
  run.samples([](std::size_t, const reader::Samples&) {});
  run.sites();
  run.locations();
  current_calls(run);
  for (std::size_t i = 0; i < run.processes().size(); ++i) account_of(run.processes()[i], run.totals(i));
  reader::replay(run);
  for (const reader::TableKind& kind : reader::table_kinds()) read_table(kind.open(run));
  reader::wait_report(run);
  read_timeline(run);
  std::size_t rows = 0;
  auto events = reader::EventStream::open(run, {});
  for (std::size_t got = 1; events && got != 0; rows += got) got = events->next(100).size();
  // Both ways of reading find the same.
  if (events && read_tables(run) != rows) std::abort();
}

// Checksums would keep the fuzzer out: makes them right, header by header, as a scanner walks.
inline void repair_checksums(std::string& file) {
  format::ChunkHeader header;
  for (std::size_t at = 0; file.size() - at >= sizeof header;) {
    std::memcpy(&header, &file[at], sizeof header);
    const std::size_t room = file.size() - at - sizeof header;
    if (header.stored_bytes > room) header.stored_bytes = static_cast<std::uint32_t>(room);
    format::seal(header, &file[at] + sizeof header);
    std::memcpy(&file[at], &header, sizeof header);
    at += sizeof header + header.stored_bytes;
  }
}

}  // namespace tare::fuzz
