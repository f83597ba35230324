#include "reader/events/event_stream.h"

#include <algorithm>
#include <iterator>
#include <queue>
#include <unordered_map>
#include <utility>

#include "format/event_columns.h"
#include "format/function_meaning.h"
#include "reader/events/event_chunks.h"
#include "reader/events/open_requests.h"
#include "reader/store/chunk_scan.h"

namespace tare::reader {
namespace {

using namespace tare::format;

constexpr std::size_t max_reserved = 4096;  // rows

bool is_event(EventKind kind) { return kind == EventKind::event || kind == EventKind::raw_event; }

// Data that all cursors share.
struct Context {
  Context(const Run& of, EventFilter with)
      : run(&of), filter(std::move(with)), choice(of, filter), rooted(rooted_functions(of.functions())) {}

  const Run* run;
  EventFilter filter;
  EventChoice choice;
  std::vector<bool> rooted;  // by function number
  EventChunks chunks;
  std::vector<std::string> warnings;

  bool wants(const EventRow& row) const {
    if (row.kind == EventKind::flush && !choice.wants_flushes()) return false;
    if (row.kind == EventKind::drain && !choice.wants_drains()) return false;
    if (row.kind == EventKind::loss && !choice.wants_losses()) return false;
    if (is_call(row.kind) && !choice.wants_call(row.function)) return false;
    if (is_event(row.kind) && !choice.wants_event(row.event_type)) return false;
    return filter.wants_time(row.start_ns, row.duration_ns);
  }
};

// The chunks of one location block, in order.
class Cursor {
 public:
  Cursor(const Run& run, const Process& process, OpenRequests& open, std::vector<ChunkRef> chunks)
      : process_(&process),
        number_(static_cast<std::uint32_t>(&process - run.processes().data())),
        open_requests_(&open),
        chunks_(std::move(chunks)) {}

  // Makes front() valid. False at the end.
  bool prepare(Context& context) {
    while (next_ == rows_.size())
      if (!load(context)) return false;
    return true;
  }
  const EventRow& front() const { return rows_[next_]; }
  // To be called in the order of time over all cursors, so that all requests that other threads started before are
  // known.
  EventRow take(const Context& context) {
    EventRow row = std::move(rows_[next_++]);
    find_started(row, context);
    if (row.requests.size() == 1 && !context.filter.lists_all_requests) {
      say_in_row(row, row.requests.front());
      row.requests.clear();
    }
    return row;
  }

 private:
  // Decodes the rows of one more chunk. False if there is none.
  bool load(Context& context) {
    if (chunk_ == chunks_.size() && held_back_.empty()) return false;
    rows_ = std::move(held_back_);
    held_back_.clear();
    next_ = 0;
    if (chunk_ < chunks_.size()) decode(chunks_[chunk_++], context);
    const auto earlier = [](const EventRow& a, const EventRow& b) { return a.start_ns < b.start_ns; };
    if (!std::is_sorted(rows_.begin(), rows_.end(), earlier)) std::stable_sort(rows_.begin(), rows_.end(), earlier);
    if (chunk_ < chunks_.size()) hold_back();
    const auto& end_ns = context.filter.end_ns;
    if (end_ns && !rows_.empty() && rows_.front().start_ns >= *end_ns) chunk_ = chunks_.size();
    std::erase_if(rows_, [&](EventRow& row) {
      if (context.wants(row)) return false;
      find_started(row, context);  // so that the list of open requests does not keep it
      return true;
    });
    return true;
  }

  // Keeps the last call back, because records of the next chunk may belong to it; not if an event was recorded after
  // it.
  void hold_back() {
    const auto is_call = [](const EventRow& row) { return row.kind == EventKind::call; };
    const auto last = std::find_if(rows_.rbegin(), rows_.rend(), is_call);
    if (last == rows_.rend()) return;
    const auto from = std::prev(last.base());
    const auto is_behind = [&](const EventRow& row) {
      return is_event(row.kind) &&
             is_before(from->start_ns, row.start_ns, static_cast<std::uint64_t>(from->duration_ns));
    };
    if (std::any_of(from, rows_.end(), is_behind)) return;
    held_back_.assign(std::make_move_iterator(from), std::make_move_iterator(rows_.end()));
    rows_.erase(from, rows_.end());
  }

  void decode(const ChunkRef& chunk, Context& context) {
    if (context.filter.skips(*process_, chunk)) return;
    std::string reason;
    if (!load_chunk(chunk, raw_, reason) || !decode_columns(chunk.header, raw_.data(), raw_.size(), columns_, reason)) {
      context.warnings.push_back(damaged_events(context.chunks.file_names[chunk.file], chunk, reason));
      return;
    }
    const std::size_t before = rows_.size();
    started_.clear();
    add_starts(UINT32_MAX, before, chunk.header.location, context);
    for (std::uint32_t i = 0; i < columns_.calls.signature.size(); ++i) {
      add_call(chunk, i, context);
      add_starts(i, before, chunk.header.location, context);
    }
    for (std::size_t i = 0; i < columns_.completions.call.size();) i = complete(before, i, context);
    const EventKind drained = is_of_tared(chunk.header.block) ? EventKind::drain : EventKind::flush;
    for (const DecodedSpan& span : columns_.flushes) add(chunk, span, drained);
    for (const DecodedSpan& span : columns_.losses) add(chunk, span, EventKind::loss);
    const EventColumns::Events &events = columns_.events, &raw_events = columns_.raw_events;
    for (std::size_t i = 0; i < events.type.size(); ++i) {
      EventRow& row = add_event(chunk, events, i, EventKind::event);
      const auto* words = columns_.parameters.data();
      row.parameters.assign(words + events.first[i], words + events.first[i + 1]);
    }
    for (std::size_t i = 0; i < columns_.source_calls.type.size(); ++i) add_source_call(chunk, i, context);
    for (std::size_t i = 0; i < raw_events.type.size(); ++i) {
      const std::uint32_t first = raw_events.first[i];
      EventRow& row = add_event(chunk, raw_events, i, EventKind::raw_event);
      row.text.assign(columns_.text, first, raw_events.first[i + 1] - first);
    }
  }

  EventRow& add_row(const ChunkRef& chunk, std::uint64_t enter, std::int64_t duration_ns) {
    EventRow& row = rows_.emplace_back();
    row.start_ns = process_->time_of(enter);
    row.duration_ns = duration_ns;
    row.process = number_;
    row.world = process_->world;
    row.rank = process_->record.rank;
    row.thread = chunk.header.location;
    process_->move(row.thread, &row.start_ns, &row.duration_ns, 1);
    const auto named = process_->thread_names.find(row.thread);
    if (named != process_->thread_names.end()) row.thread_name = &named->second;
    return row;
  }

  void add_call(const ChunkRef& chunk, std::size_t i, const Context& context) {
    const EventColumns::Signatures& s = columns_.signatures;
    const auto k = static_cast<std::size_t>(columns_.calls.signature[i]);
    const std::uint64_t enter = columns_.calls.enter[i], leave = enter + columns_.calls.duration[i];
    const std::uint64_t ticks = leave > enter ? leave - enter : 0;
    EventRow& row = add_row(chunk, enter, process_->clock.duration_ns(ticks << process_->shift()));
    const auto communicator = static_cast<std::uint32_t>(s.communicator[k]);
    row.function = FunctionNames::lookup(*process_->functions, static_cast<std::uint16_t>(s.function[k]));
    row.rooted = context.rooted[row.function];
    row.site = process_->sites.find(static_cast<std::uint32_t>(s.site[k]));
    row.communicator = process_->communicators.find(communicator);
    row.scope = process_->scopes.find(communicator);
    row.bytes = static_cast<std::uint64_t>(s.bytes[k]);
    row.peer = static_cast<std::int32_t>(s.peer[k]);
    row.peer_world = world_rank(row.communicator, row.peer, context);
    (meaning_of(row.function).kind == CallClass::epoch ? row.epoch : row.tag) = static_cast<std::int32_t>(s.tag[k]);
    row.received = static_cast<std::uint64_t>(s.received[k]);
    row.source = static_cast<std::int32_t>(s.source[k]);
    row.source_world = world_rank(row.communicator, row.source, context);
    row.source_tag = static_cast<std::int32_t>(s.source_tag[k]);
    row.request = start_request(static_cast<std::uint32_t>(columns_.calls.request[i]), communicator, row.thread,
                                process_->shown(row.thread, process_->time_of(leave)))
                      .request;
  }

  void add_source_call(const ChunkRef& chunk, std::size_t i, const Context& context) {
    const EventColumns::SourceCalls& calls = columns_.source_calls;
    EventRow& row = add_row(chunk, calls.time[i], process_->span_ns(calls.time[i], calls.time[i] + calls.duration[i]));
    row.kind = EventKind::source_call;
    row.function = FunctionNames::lookup(*process_->functions, calls.type[i]);
    row.site = process_->sites.find(static_cast<std::uint32_t>(calls.site[i]));
    row.object = static_cast<std::uint32_t>(calls.object[i]);
    const auto* first = columns_.arguments.data() + calls.first[i];
    const std::size_t count = calls.first[i + 1] - calls.first[i];
    row.parameters.assign(first, first + count);
    row.bytes = static_cast<std::uint64_t>(context.run->functions().bytes_among(row.function, first, count));
  }

  std::int32_t world_rank(std::int32_t communicator, std::int32_t peer, const Context& context) const {
    return context.run->world_rank(communicator, process_->record.rank, peer);
  }

  // Gives a request a new number, in the order of starts in this location. Recorded numbers cannot be used: handles are
  // used again, and requests that complete in the chunk where they start have none.
  StartedRequest start_request(std::uint32_t recorded, std::uint32_t communicator, std::uint32_t thread,
                               std::int64_t since_ns) {
    if (recorded == no_request) return {};
    const StartedRequest started{++last_request_, communicator, thread};
    if (recorded != completed_in_chunk) open_requests_->start(recorded, since_ns, started);
    return started;
  }
  // Adds the requests that a call with several requests started.
  void add_starts(std::uint32_t call, std::size_t first_row, std::uint32_t thread, const Context& context) {
    EventRow* row = row_of(call, first_row);
    const EventColumns::Starts& starts = columns_.starts;
    for (std::size_t i = started_.size(); i < starts.call.size() && starts.call[i] == call; ++i) {
      const auto signature = static_cast<std::size_t>(starts.signature[i]);
      const auto communicator = static_cast<std::uint32_t>(columns_.signatures.communicator[signature]);
      const std::int64_t since_ns = row == nullptr ? INT64_MIN : row->start_ns;
      started_.push_back(start_request(static_cast<std::uint32_t>(starts.request[i]), communicator, thread, since_ns));
      if (row != nullptr)
        row->requests.push_back(described(started_.back(), thread, message_of(starts.signature[i]), context));
    }
  }
  // What the signature of a start or a completion says of its message.
  EventRequest message_of(std::int64_t signature) const {
    const EventColumns::Signatures& s = columns_.signatures;
    const auto k = static_cast<std::size_t>(signature);
    return {.peer = static_cast<std::int32_t>(s.peer[k]),
            .tag = static_cast<std::int32_t>(s.tag[k]),
            .bytes = static_cast<std::uint64_t>(s.bytes[k])};
  }
  // Completes the description of a request. `thread`: the thread of the row that contains it.
  EventRequest described(const StartedRequest& started, std::uint32_t thread, EventRequest request,
                         const Context& context) const {
    request.request = started.request;
    if (started.request != no_request && started.thread != thread) request.starter = started.thread;
    request.communicator = process_->communicators.find(started.communicator);
    request.peer_world = world_rank(request.communicator, request.peer, context);
    return request;
  }
  // The row of a call of the chunk whose first row is at first_row. UINT32_MAX: the last call of the chunk before,
  // which was kept back. nullptr if there is none.
  EventRow* row_of(std::uint32_t call, std::size_t first_row) {
    if (call == UINT32_MAX) return first_row > 0 ? &rows_.front() : nullptr;
    return call < columns_.calls.signature.size() ? &rows_[first_row + call] : nullptr;
  }
  // A request that this chunk starts. `start`: index in EventColumns::requests
  StartedRequest started_here(std::uint32_t start, std::size_t first_row) const {
    const std::uint32_t call = columns_.requests.call[start], nth = columns_.requests.nth[start];
    if (nth != UINT32_MAX) return nth < started_.size() ? started_[nth] : StartedRequest{};
    const EventRow& row = rows_[first_row + call];
    const auto signature = static_cast<std::size_t>(columns_.calls.signature[call]);
    return {row.request, static_cast<std::uint32_t>(columns_.signatures.communicator[signature]), row.thread};
  }
  // Finds the requests that a row completed and whose starts are in other chunks.
  void find_started(EventRow& row, const Context& context) {
    for (EventRequest& request : row.requests) {
      const std::uint32_t recorded = std::exchange(request.recorded, no_request);
      if (recorded == no_request) continue;
      request = described(open_requests_->complete(recorded, row.start_ns), row.thread, request, context);
    }
  }

  void add(const ChunkRef& chunk, const DecodedSpan& span, EventKind kind) {
    EventRow& row = add_row(chunk, span.enter, process_->span_ns(span.enter, span.leave));
    row.kind = kind;
    row.records = span.records;
    if (kind != EventKind::loss) row.bytes = span.bytes;
  }

  EventRow& add_event(const ChunkRef& chunk, const EventColumns::Events& events, std::size_t i, EventKind kind) {
    EventRow& row = add_row(chunk, events.time[i], 0);
    row.kind = kind;
    row.event_type = process_->event_types.find(events.type[i]);
    return row;
  }

  // Adds all completions of one call, beginning with `from`. Returns the first completion of the next call.
  std::size_t complete(std::size_t first_row, std::size_t from, const Context& context) {
    const EventColumns::Completions& completions = columns_.completions;
    const std::uint32_t call = completions.call[from];
    std::size_t to = from;
    while (to < completions.call.size() && completions.call[to] == call) ++to;
    EventRow* row = row_of(call, first_row);
    if (row == nullptr) return to;
    // The next chunk may complete further requests of the last call.
    const bool is_only = to - from == 1 && call != UINT32_MAX && call + 1 < columns_.calls.signature.size();
    for (std::size_t i = from; i < to; ++i) {
      EventRequest request = message_of(completions.signature[i]);
      if (request.bytes != no_bytes) row->bytes = request.bytes + (row->bytes == no_bytes ? 0 : row->bytes);
      const std::uint32_t start = completions.start[i];
      const bool is_of_chunk = start != UINT32_MAX;
      if (is_of_chunk)
        request = described(started_here(start, first_row), row->thread, request, context);
      else
        request.recorded = static_cast<std::uint32_t>(completions.request[i]);
      if (is_only && is_of_chunk && !context.filter.lists_all_requests)
        say_in_row(*row, request);
      else
        row->requests.push_back(request);
    }
    return to;
  }

  // Moves the only request of a call into the fields of its row.
  static void say_in_row(EventRow& row, const EventRequest& request) {
    if (row.peer == no_peer) {
      row.peer = request.peer;
      row.peer_world = request.peer_world;
    }
    if (row.tag == no_tag) row.tag = request.tag;
    if (row.request != no_request) return;
    row.request = request.request;
    row.starter = request.starter;
  }

  const Process* process_;
  std::uint32_t number_;         // index in Run::processes()
  OpenRequests* open_requests_;  // shared by all cursors of the process
  std::vector<ChunkRef> chunks_;
  std::size_t chunk_ = 0;
  std::vector<EventRow> rows_;
  std::size_t next_ = 0;
  std::vector<EventRow> held_back_;
  std::uint32_t last_request_ = no_request;
  std::vector<StartedRequest> started_;  // requests that the chunk starts
  std::vector<char> raw_;
  EventColumns columns_;
};

}  // namespace

struct EventStream::State {
  State(const Run& run, EventFilter filter) : context(run, std::move(filter)) {}

  Context context;
  std::unordered_map<const Process*, OpenRequests> open_requests;
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
  for (EventChunks::Block& block : context.chunks.blocks)
    state->cursors.emplace_back(run, *block.process, state->open_requests[block.process], std::move(block.chunks));
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
      rows.push_back(from.take(state.context));
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
