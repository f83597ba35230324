#include "reader/events/event_stream.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <queue>
#include <span>
#include <utility>

#include "reader/events/chunk_calls.h"
#include "reader/events/event_chunks.h"
#include "reader/events/handed_over.h"

namespace tare::reader {
namespace {

using namespace tare::format;

constexpr std::size_t max_reserved = 4096;  // rows

bool is_event(EventKind kind) { return kind == EventKind::event || kind == EventKind::raw_event; }

// Data that all cursors share.
struct Context : EventContext {
  using EventContext::EventContext;

  EventChunks chunks;
  std::vector<std::string> warnings;
  EventBlock::Decoded decoded;

  bool wants(const EventRow& row) const {
    if (row.kind == EventKind::flush && !choice.wants_flushes()) return false;
    if (row.kind == EventKind::drain && !choice.wants_drains()) return false;
    if (row.kind == EventKind::loss && !choice.wants_losses()) return false;
    if (is_call(row.kind) && !choice.wants_call(row.function)) return false;
    if (is_event(row.kind) && !choice.wants_event(row.event_type)) return false;
    return filter.wants_time(row.start_ns, row.duration_ns);
  }
};

// The rows of one location block, in order.
class Cursor {
 public:
  // `handed_over`: of the process. `block`: index among its blocks.
  Cursor(const Context& context, const EventChunks::Block& of, const HandedOver& handed_over, std::size_t block)
      : process_(of.process),
        number_(static_cast<std::uint32_t>(of.process - context.run.processes().data())),
        reading_(of),
        calls_(context),
        handed_over_(&handed_over),
        block_(block) {}

  // Makes front() valid. False at the end.
  bool prepare(Context& context) {
    while (next_ == rows_.size())
      if (!load(context)) return false;
    return true;
  }
  const EventRow& front() const { return rows_[next_]; }
  EventRow take() { return std::move(rows_[next_++]); }

 private:
  // Decodes the rows of one more chunk. False if there is none.
  bool load(Context& context) {
    if (!reading_.next(context.filter, context.decoded)) return false;
    rows_ = std::move(held_back_);
    held_back_.clear();
    next_ = 0;
    reading_.place.completed = handed_over_->of_chunk(block_, reading_.number());
    if (!reading_.damage.empty()) {
      const ChunkRef& chunk = reading_.chunk();
      context.warnings.push_back(damaged_events(context.chunks.file_names[chunk.file], chunk, reading_.damage));
    }
    calls_.read(context.decoded.columns, reading_.place);
    add_calls(context);
    add_others(context);
    const auto earlier = [](const EventRow& a, const EventRow& b) { return a.start_ns < b.start_ns; };
    if (!std::is_sorted(rows_.begin(), rows_.end(), earlier)) std::stable_sort(rows_.begin(), rows_.end(), earlier);
    // What is behind a call that waits for the next chunk waits, too.
    if (const auto since = calls_.held_since_ns()) {
      const auto from =
          std::find_if(rows_.begin(), rows_.end(), [&](const auto& row) { return row.start_ns > *since; });
      held_back_.assign(std::make_move_iterator(from), std::make_move_iterator(rows_.end()));
      rows_.erase(from, rows_.end());
    }
    return true;
  }

  void add_calls(const Context& context) {
    auto next = calls_.requests.begin();
    for (std::uint32_t i = 0; i < calls_.count(); ++i) {
      EventRow& row = rows_.emplace_back(calls_.values[calls_.signature[i]]);
      const EventRequest& message = calls_.messages[i];
      row.start_ns = calls_.start_ns[i];
      row.duration_ns = calls_.duration_ns[i];
      row.request = message.request;
      row.starter = message.starter;
      row.peer = message.peer;
      row.peer_world = message.peer_world;
      row.tag = message.tag;
      row.bytes = message.bytes;
      locate(row);
      const auto is_of_other = [i](const ChunkCalls::Request& request) { return request.call != i; };
      const auto end = std::find_if(next, calls_.requests.end(), is_of_other);
      if (end - next > 1 || context.filter.lists_all_requests) row.requests.assign(next, end);
      next = end;
    }
  }

  void add_others(const Context& context) {
    const EventColumns& columns = context.decoded.columns;
    const std::size_t first = rows_.size();
    const EventKind drained = is_of_tared(reading_.chunk().header.block) ? EventKind::drain : EventKind::flush;
    for (const DecodedSpan& span : columns.flushes) add(span, drained);
    for (const DecodedSpan& span : columns.losses) add(span, EventKind::loss);
    const EventColumns::Events &events = columns.events, &raw_events = columns.raw_events;
    for (std::size_t i = 0; i < events.type.size(); ++i) {
      EventRow& row = add_event(events, i, EventKind::event);
      const auto* words = columns.parameters.data();
      row.parameters.assign(words + events.first[i], words + events.first[i + 1]);
    }
    for (std::size_t i = 0; i < columns.source_calls.type.size(); ++i) add_source_call(columns, i, context);
    for (std::size_t i = 0; i < raw_events.type.size(); ++i) {
      const std::uint32_t from = raw_events.first[i];
      EventRow& row = add_event(raw_events, i, EventKind::raw_event);
      row.text.assign(columns.text, from, raw_events.first[i + 1] - from);
    }
    const auto is_unwanted = [&](const EventRow& row) { return !context.wants(row); };
    rows_.erase(std::remove_if(rows_.begin() + static_cast<std::ptrdiff_t>(first), rows_.end(), is_unwanted),
                rows_.end());
  }

  EventRow& add_row(std::uint64_t enter, std::int64_t duration_ns) {
    EventRow& row = rows_.emplace_back();
    row.start_ns = process_->time_of(enter);
    row.duration_ns = duration_ns;
    locate(row);
    process_->move(row.thread, &row.start_ns, &row.duration_ns, 1);
    return row;
  }

  void locate(EventRow& row) const {
    row.process = number_;
    row.world = process_->world;
    row.rank = process_->record.rank;
    row.thread = reading_.place.thread;
    const auto named = process_->thread_names.find(row.thread);
    if (named != process_->thread_names.end()) row.thread_name = &named->second;
  }

  void add_source_call(const EventColumns& columns, std::size_t i, const Context& context) {
    const EventColumns::SourceCalls& calls = columns.source_calls;
    EventRow& row = add_row(calls.time[i], process_->span_ns(calls.time[i], calls.time[i] + calls.duration[i]));
    row.kind = EventKind::source_call;
    row.function = FunctionNames::lookup(*process_->functions, calls.type[i]);
    row.site = process_->sites.find(static_cast<std::uint32_t>(calls.site[i]));
    row.object = static_cast<std::uint32_t>(calls.object[i]);
    const auto* first = columns.arguments.data() + calls.first[i];
    const std::size_t count = calls.first[i + 1] - calls.first[i];
    row.parameters.assign(first, first + count);
    row.bytes = static_cast<std::uint64_t>(context.run.functions().bytes_among(row.function, first, count));
  }

  void add(const DecodedSpan& span, EventKind kind) {
    EventRow& row = add_row(span.enter, process_->span_ns(span.enter, span.leave));
    row.kind = kind;
    row.records = span.records;
    if (kind != EventKind::loss) row.bytes = span.bytes;
  }

  EventRow& add_event(const EventColumns::Events& events, std::size_t i, EventKind kind) {
    EventRow& row = add_row(events.time[i], 0);
    row.kind = kind;
    row.event_type = process_->event_types.find(events.type[i]);
    return row;
  }

  const Process* process_;
  std::uint32_t number_;  // index in Run::processes()
  EventBlock reading_;
  ChunkCalls calls_;
  const HandedOver* handed_over_;
  std::size_t block_;
  std::vector<EventRow> rows_;
  std::size_t next_ = 0;
  std::vector<EventRow> held_back_;
};

}  // namespace

struct EventStream::State {
  State(const Run& run, EventFilter filter) : context(run, std::move(filter)) {}

  Context context;
  std::deque<HandedOver> handed_over;  // by process
  std::vector<Cursor> cursors;
  using Head = std::pair<std::int64_t, std::size_t>;  // start_ns, cursor
  std::priority_queue<Head, std::vector<Head>, std::greater<>> heads;
  std::uint64_t given = 0;

  void push(std::size_t cursor) {
    if (cursors[cursor].prepare(context)) heads.emplace(cursors[cursor].front().start_ns, cursor);
  }
};

EventStream::EventStream(std::unique_ptr<State> state) : state_(std::move(state)) {}
EventStream::EventStream(EventStream&&) noexcept = default;
EventStream& EventStream::operator=(EventStream&&) noexcept = default;
EventStream::~EventStream() = default;

Result<EventStream> EventStream::open(const Run& run, EventFilter filter) {
  auto state = std::make_unique<State>(run, std::move(filter));
  Context& context = state->context;
  auto chunks = EventChunks::of(run, context.filter, context.choice);
  if (!chunks) return chunks.failure();
  context.chunks = std::move(*chunks);
  context.warnings = context.chunks.warnings;
  const std::span<const EventChunks::Block> blocks = context.chunks.blocks;
  for (std::size_t i = 0, first = 0; i < blocks.size(); ++i) {
    if (i == 0 || blocks[i].process != blocks[first].process) {
      first = i;
      state->handed_over.push_back(HandedOver::of_process(blocks.subspan(i), context.filter));
    }
    state->cursors.emplace_back(context, blocks[i], state->handed_over.back(), i - first);
  }
  for (std::size_t i = 0; i < state->cursors.size(); ++i) state->push(i);
  return EventStream(std::move(state));
}

std::vector<EventRow> EventStream::next(std::size_t count) {
  State& state = *state_;
  std::vector<EventRow> rows;
  rows.reserve(std::min<std::size_t>(count, max_reserved));
  const std::uint64_t limit = state.context.filter.limit;
  while (rows.size() < count && !state.heads.empty() && (limit == 0 || state.given < limit)) {
    const std::size_t cursor = state.heads.top().second;
    state.heads.pop();
    // Takes events from this cursor as long as no other cursor has an earlier one.
    const std::int64_t until = state.heads.empty() ? INT64_MAX : state.heads.top().first;
    Cursor& from = state.cursors[cursor];
    do {
      rows.push_back(from.take());
      ++state.given;
    } while (rows.size() < count && (limit == 0 || state.given < limit) && from.prepare(state.context) &&
             from.front().start_ns <= until);
    state.push(cursor);
  }
  return rows;
}

const std::string& EventStream::name(const Run& run, const EventRow& row) {
  if (row.kind == EventKind::flush) return flush_name;
  if (row.kind == EventKind::drain) return drain_name;
  if (row.kind == EventKind::loss) return loss_name;
  if (is_event(row.kind))
    return row.event_type < 0 ? other_name : run.event_types()[static_cast<std::size_t>(row.event_type)].name;
  return run.functions().name(row.function);
}

std::optional<std::uint64_t> EventStream::argument(const Run& run, const EventRow& row, std::string_view name) {
  if (row.kind != EventKind::source_call) return std::nullopt;
  const std::vector<std::string>& names = run.functions().arguments(row.function);
  const auto place = static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  if (place >= std::min(names.size(), row.parameters.size())) return std::nullopt;
  return row.parameters[place];
}

const std::vector<std::string>& EventStream::warnings() const { return state_->context.warnings; }

}  // namespace tare::reader
