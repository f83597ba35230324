#include "reader/events/event_tables.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "format/function_meaning.h"
#include "reader/events/event_batch.h"
#include "reader/events/event_block.h"
#include "reader/events/event_chunks.h"
#include "reader/events/event_table_calls.h"
#include "reader/events/event_table_context.h"
#include "reader/events/event_table_program.h"
#include "reader/events/handed_over.h"
#include "reader/events/program_event.h"

namespace tare::reader {
namespace {

using namespace tare::format;
using Column = EventColumn;

// A column with one value for the whole batch. Its memory is reused while the next batches have the same value.
class ConstantColumn {
 public:
  void fill(EventBatch& batch, Column column, std::int32_t value) {
    if (!batch.wants(column)) return;
    const std::size_t n = batch.rows();
    if (values_ == nullptr || value != value_ || n > values_->size()) {
      values_ =
          std::make_shared<std::vector<std::int32_t>>(std::max(n, values_ == nullptr ? 0 : values_->size()), value);
      value_ = value;
    }
    batch.array(column) = {n, 0, {}, {values_->data(), values_}, {}, {}};
  }

 private:
  std::shared_ptr<std::vector<std::int32_t>> values_;
  std::int32_t value_ = 0;
};

constexpr std::int64_t no_span_bytes = -1;
constexpr std::int64_t no_span_records = -1;

struct Span {  // flush, drain, loss, or call of another source than MPI
  std::int64_t start_ns, duration_ns, records, bytes;
  std::uint32_t thread;
  std::int32_t name;
  // Of a call of another source:
  std::int32_t site = -1;  // index in Run::sites()
  Text used_file{};
  bool is_call = false;
  std::size_t first_argument = 0, arguments = 0;  // in State::arguments
};

arrow::Schema schema_of(const Run& run, RunTexts& texts) {
  texts.add_used_files(run);
  for (const char* kind : event_class_names) texts.of("kind").number_of(kind);
  arrow::Schema schema;
  for (const DeclaredColumn& column : events_columns) schema.push_back(texts.field_of(column));
  const auto set_items = [&schema](Column list, arrow::Type type, std::vector<arrow::Field> children) {
    schema[static_cast<std::size_t>(list)].children = {{"item", type, false, std::move(children)}};
  };
  // They are like columns of the table.
  std::vector<arrow::Field> of_request;
  for (const Column column : {Column::request, Column::starter, Column::communicator, Column::communicator_key,
                              Column::peer, Column::peer_world, Column::tag, Column::bytes})
    of_request.push_back(schema[static_cast<std::size_t>(column)]);
  set_items(Column::requests, arrow::Type::structure, std::move(of_request));
  set_items(Column::parameters, arrow::Type::float64, {});
  set_items(Column::words, arrow::Type::uint64, {});
  return schema;
}

struct EventTable {
  EventTable(Run& run, EventFilter filter, std::vector<bool> columns_wanted, SiteTexts sites)
      : context(run, std::move(filter), sites),
        fields(schema_of(run, context.texts)),
        wanted(std::move(columns_wanted)),
        calls(context),
        program(context) {
    for (std::size_t i = 0; i < wanted.size(); ++i)
      if (wanted[i]) schema.push_back(fields[i]);
  }

  TableContext context;
  arrow::Schema fields, schema;  // all columns, and the wanted ones
  std::vector<bool> wanted;      // by EventColumn
  CallTable calls;
  ProgramEventTable program;
  EventChunks chunks;
  std::vector<std::string> warnings;
  std::shared_ptr<arrow::Arena::Pool> pool = arrow::Arena::make_pool();
  ConstantColumn world, rank, pid, thread, thread_name;
  std::uint64_t given = 0;

  // The position: which part of the current chunk, or of the block, comes next.
  enum class Stage : std::uint8_t { calls, events, raw_events, next_chunk, spans };
  Stage stage = Stage::next_chunk;
  std::size_t block = 0;
  std::optional<EventBlock> reading;  // of the block
  ChunkPlace place{};
  HandedOver handed_over;       // for the current process
  std::size_t first_block = 0;  // index of the first block of this process
  EventBlock::Decoded decoded;
  std::vector<Span> spans;               // of the block
  std::vector<std::uint64_t> arguments;  // of its calls of other sources
  std::size_t next_span = 0;

  bool is_at_end() const {
    return block == chunks.blocks.size() || (context.filter.limit != 0 && given >= context.filter.limit);
  }

  std::size_t next(std::vector<arrow::Array>& columns);
  void fill(EventBatch& batch);
  void load_next();
  void start_block();
  void add_spans(bool of_tared);
  void add_spans(const std::vector<DecodedSpan>& from, std::int32_t name, bool have_bytes);
  void add_source_calls();
  Text used_file_of(std::uint16_t function, std::uint32_t object) const;
  void add_span(Span span);
  void fill_spans(EventBatch& batch);
  void fill_arguments(EventBatch& batch) const;
  void fill_location(EventBatch& batch);
};

// Fills the batch with the rows of the next stage, of which there may be none.
void EventTable::fill(EventBatch& batch) {
  switch (stage) {
    case Stage::next_chunk:
      load_next();
      return;
    case Stage::calls:
      stage = Stage::events;
      calls.fill(decoded.columns, place, batch);
      break;
    case Stage::events:
      stage = Stage::raw_events;
      program.fill(decoded.columns, place, batch);
      break;
    case Stage::raw_events:
      stage = Stage::next_chunk;
      program.fill_raw(decoded.columns, place, batch);
      break;
    case Stage::spans:
      if (next_span == spans.size()) {
        stage = Stage::next_chunk;
        ++block;
        reading.reset();
        spans.clear();
        arguments.clear();
        next_span = 0;
        return;
      }
      place.thread = spans[next_span].thread;
      fill_spans(batch);
      break;
  }
  if (batch.rows() != 0) fill_location(batch);
}

void EventTable::load_next() {
  if (!reading) start_block();
  if (!reading->next(context.filter, decoded)) {
    stage = Stage::spans;
    return;
  }
  place = reading->place;
  place.completed = handed_over.of_chunk(block - first_block, reading->number());
  if (!reading->damage.empty())
    warnings.push_back(damaged_events(chunks.file_names[reading->chunk().file], reading->chunk(), reading->damage));
  add_spans(is_of_tared(reading->chunk().header.block));
  stage = Stage::calls;
}

// Begins a block. For the first block of a process, finds the requests that other threads complete.
void EventTable::start_block() {
  calls.start_block();
  reading.emplace(chunks.blocks[block]);
  if (block != 0 && chunks.blocks[block - 1].process == chunks.blocks[block].process) return;
  first_block = block;
  handed_over = {};
  for (const Column column : {Column::peer_world, Column::request, Column::starter, Column::requests})
    if (wanted[static_cast<std::size_t>(column)]) {
      handed_over = HandedOver::of_process(std::span(chunks.blocks).subspan(block), context.filter);
      return;
    }
}

void EventTable::add_spans(bool of_tared) {
  const EventChoice& choice = context.choice;
  const RunTexts& texts = context.texts;
  if (of_tared ? choice.wants_drains() : choice.wants_flushes())
    add_spans(decoded.columns.flushes, (of_tared ? texts.drain() : texts.flush()).number, true);
  if (choice.wants_losses()) add_spans(decoded.columns.losses, texts.loss().number, false);
  add_source_calls();
}

void EventTable::add_spans(const std::vector<DecodedSpan>& from, std::int32_t name, bool have_bytes) {
  const Process& process = *place.process;
  for (const DecodedSpan& span : from)
    add_span({process.time_of(span.enter), process.span_ns(span.enter, span.leave),
              static_cast<std::int64_t>(span.records),
              have_bytes ? static_cast<std::int64_t>(span.bytes) : no_span_bytes, place.thread, name});
}

void EventTable::add_source_calls() {
  const EventColumns::SourceCalls& calls_of = decoded.columns.source_calls;
  const Process& process = *place.process;
  for (std::size_t i = 0; i < calls_of.type.size(); ++i) {
    const std::uint16_t function = FunctionNames::lookup(*process.functions, calls_of.type[i]);
    if (!context.choice.wants_call(function)) continue;
    const std::uint64_t* first = decoded.columns.arguments.data() + calls_of.first[i];
    const std::size_t count = calls_of.first[i + 1] - calls_of.first[i];
    const std::int64_t bytes = context.run.functions().bytes_among(function, first, count);
    add_span({process.time_of(calls_of.time[i]),
              process.span_ns(calls_of.time[i], calls_of.time[i] + calls_of.duration[i]), no_span_records, bytes,
              place.thread, context.texts.function(function).number,
              process.sites.find(static_cast<std::uint32_t>(calls_of.site[i])),
              used_file_of(function, static_cast<std::uint32_t>(calls_of.object[i])), true, arguments.size(), count});
    arguments.insert(arguments.end(), first, first + count);
  }
}

// Other objects are those of other sources.
Text EventTable::used_file_of(std::uint16_t function, std::uint32_t object) const {
  const bool is_file = meaning_of(function).access != FileAccess::none;
  return is_file ? context.texts.used_file(*place.process, object) : Text{};
}

void EventTable::add_span(Span span) {
  place.process->move(place.thread, &span.start_ns, &span.duration_ns, 1);
  if (context.filter.wants_time(span.start_ns, span.duration_ns)) spans.push_back(span);
}

// Fills the batch with the spans of one thread. If several threads used the block one after another, it is called for
// each.
void EventTable::fill_spans(EventBatch& batch) {
  std::size_t end = next_span;
  while (end < spans.size() && spans[end].thread == place.thread && end - next_span < max_batch_rows) ++end;
  batch.set_rows(end - next_span);
  const Span* of = spans.data() + next_span;
  constexpr std::int64_t none = -1;
  batch.fill(Column::function, absent, [&](std::size_t i) { return of[i].name; });
  batch.fill(Column::start_ns, INT64_MIN, [&](std::size_t i) { return of[i].start_ns; });
  batch.fill(Column::duration_ns, none, [&](std::size_t i) { return of[i].duration_ns; });
  batch.fill(Column::records, no_span_records, [&](std::size_t i) { return of[i].records; });
  batch.fill(Column::bytes, no_span_bytes, [&](std::size_t i) { return of[i].bytes; });
  batch.fill(Column::used_file, absent, [&](std::size_t i) { return of[i].used_file.number; });
  const bool have_sites = std::any_of(of, of + batch.rows(), [](const Span& s) { return s.site >= 0; });
  if (have_sites) {
    const RunTexts& texts = context.texts;
    batch.fill(Column::site, absent, [&](std::size_t i) { return of[i].site < 0 ? absent : of[i].site; });
    batch.fill(Column::caller, absent, [&](std::size_t i) { return texts.place(of[i].site).frame.caller.number; });
    batch.fill(Column::file, absent, [&](std::size_t i) { return texts.place(of[i].site).frame.file.number; });
    batch.fill(Column::line, absent,
               [&](std::size_t i) { return texts.place(of[i].site).frame.line.value_or(absent); });
  }
  fill_arguments(batch);
  next_span = end;
}

// The lists of arguments of calls of other sources than MPI.
void EventTable::fill_arguments(EventBatch& batch) const {
  const Span* rows = spans.data() + next_span;
  const std::size_t n = batch.rows();
  const auto calls = static_cast<std::size_t>(std::count_if(rows, rows + n, [](const Span& s) { return s.is_call; }));
  if (calls == 0) return;
  const auto& arena = batch.arena();
  auto* there = arena->allocate<std::uint8_t>(n / 8 + 1);
  std::fill_n(there, n / 8 + 1, 0);
  auto* first = arena->allocate<std::uint32_t>(n + 1);
  first[0] = 0;
  for (std::size_t i = 0; i < n; ++i) {
    there[i / 8] = static_cast<std::uint8_t>(there[i / 8] | static_cast<unsigned>(rows[i].is_call) << i % 8);
    first[i + 1] = first[i] + static_cast<std::uint32_t>(rows[i].arguments);
  }
  const auto fill = [&](Column column, auto* values) {
    if (!batch.wants(column)) return;
    auto* out = values;
    for (std::size_t i = 0; i < n; ++i)
      out = std::copy_n(arguments.data() + rows[i].first_argument, rows[i].arguments, out);
    arrow::Array& list = batch.array(column);
    list = {n, static_cast<std::int64_t>(n - calls), {there, arena}, {first, arena}, {}, {}};
    list.children.push_back(arrow::Array{first[n], 0, {}, {values, arena}, {}, {}});
  };
  fill(Column::words, arena->allocate<std::uint64_t>(first[n]));
  fill(Column::parameters, arena->allocate<double>(first[n]));
}

void EventTable::fill_location(EventBatch& batch) {
  world.fill(batch, Column::world, place.process->world);
  rank.fill(batch, Column::rank, place.process->record.rank);
  if (place.process->record.rank < 0)
    pid.fill(batch, Column::pid, static_cast<std::int32_t>(place.process->record.pid));
  thread.fill(batch, Column::thread, static_cast<std::int32_t>(place.thread));
  const std::int32_t name = context.texts.thread_name(*place.process, place.thread).number;
  if (name != absent) thread_name.fill(batch, Column::thread_name, name);
}

// Fills a column for each field of the schema with the next rows. Returns their number; 0 at the end.
std::size_t EventTable::next(std::vector<arrow::Array>& columns_out) {
  while (!is_at_end()) {
    EventBatch batch(fields, wanted, pool);
    fill(batch);
    if (batch.rows() == 0) continue;
    const std::uint64_t limit = context.filter.limit;
    const bool is_too_long = limit != 0 && batch.rows() > limit - given;
    const std::size_t rows = is_too_long ? limit - given : batch.rows();
    given += rows;
    batch.move_to(columns_out);
    for (arrow::Array& column : columns_out) {
      column.length = rows;
      if (is_too_long && column.nulls != 0) column.nulls = -1;
    }
    return rows;
  }
  return 0;
}

}  // namespace

Result<TableStream> event_table(Run& run, EventFilter filter, const std::optional<std::vector<std::string>>& columns) {
  std::vector<bool> wanted(std::size(events_columns), !columns);
  for (const std::string& name : columns ? *columns : std::vector<std::string>{}) {
    const auto is_it = [&](const DeclaredColumn& column) { return column.name == name; };
    const auto found = std::find_if(std::begin(events_columns), std::end(events_columns), is_it);
    if (found == std::end(events_columns)) return Failure{"events have no column " + name};
    wanted[static_cast<std::size_t>(found - std::begin(events_columns))] = true;
  }
  const auto wants = [&](Column column) { return wanted[static_cast<std::size_t>(column)]; };
  const bool with_sites = wants(Column::caller) || wants(Column::file) || wants(Column::line);
  const auto state = std::make_shared<EventTable>(run, std::move(filter), std::move(wanted),
                                                  with_sites ? SiteTexts::lines : SiteTexts::none);
  auto chunks = EventChunks::of(run, state->context.filter, state->context.choice);
  if (!chunks) return chunks.failure();
  state->chunks = std::move(*chunks);
  state->warnings = state->chunks.warnings;
  return TableStream{state->schema, [state](std::vector<arrow::Array>& out) { return state->next(out); },
                     [state] { return state->warnings; }};
}

}  // namespace tare::reader
