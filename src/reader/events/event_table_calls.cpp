#include "reader/events/event_table_calls.h"

#include <algorithm>
#include <utility>

namespace tare::reader {
namespace {

using namespace tare::format;
using Column = EventColumn;

constexpr std::int64_t absent_bytes = -1;
constexpr std::int64_t absent_request = no_request;
static_assert(no_peer == absent && no_tag == absent && static_cast<std::int64_t>(no_bytes) == absent_bytes);

constexpr std::uint32_t nowhere = UINT32_MAX;

template <typename T>
void append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

void CallTable::start_block() {
  open_requests_.clear();
  last_request_ = no_request;
  held_.reset();
}

void CallTable::fill(const EventColumns& chunk, const ChunkPlace& place, EventBatch& batch) {
  chunk_ = &chunk;
  place_ = place;
  begins_with_held_ = held_.has_value();
  value_signatures();
  list_calls();
  resolve_requests();
  number_requests();
  list_requests();
  held_.reset();
  const bool is_complete = place_.is_last || (!place_.continues && signature_.size() == 1 && begins_with_held_);
  if (!is_complete) hold_back();
  choose();
  batch.set_rows(signature_.size());
  if (batch.rows() == 0) return;
  fill_values(batch);
  fill_messages(batch);
  if (batch.wants(Column::requests)) fill_requests(batch);
}

std::int32_t CallTable::world_rank(std::int32_t communicator, std::int32_t peer) const {
  return context_.run.world_rank(communicator, place_.process->record.rank, peer);
}

void CallTable::value_signatures() {
  const EventColumns::Signatures& s = chunk_->signatures;
  const Process& process = *place_.process;
  values_.resize(s.function.size());
  for (std::size_t i = 0; i < values_.size(); ++i) {
    Values& v = values_[i];
    const auto recorded = static_cast<std::uint16_t>(s.function[i]);
    if (recorded >= first_other) continue;  // of completions or starts
    const std::uint16_t function = FunctionNames::lookup(*process.functions, recorded);
    const auto communicator_number = static_cast<std::uint32_t>(s.communicator[i]);
    const std::int32_t communicator = process.communicators.find(communicator_number);
    const auto site = process.sites.find(static_cast<std::uint32_t>(s.site[i]));
    const rows::Frame& frame = context_.texts.place(site).frame;
    const rows::Communicator& of_communicator = context_.texts.communicator(communicator);
    const RunTexts::Scope& of_scope = context_.texts.scope(process.scopes.find(communicator_number));
    const auto peer = static_cast<std::int32_t>(s.peer[i]);
    const bool is_rooted = context_.rooted[function];
    v[Column::function] = context_.texts.function(function).number;
    v[Column::site] = site < 0 ? absent : site;
    v[Column::caller] = frame.caller.number;
    v[Column::file] = frame.file.number;
    v[Column::line] = frame.line.value_or(absent);
    v[Column::communicator] = of_communicator.communicator.number;
    v[Column::communicator_key] = of_communicator.communicator_key.number;
    v[Column::window] = of_scope.is_file ? absent : of_scope.name.number;
    v[Column::window_key] = of_scope.is_file ? absent : of_scope.key.number;
    v[Column::mpi_file] = of_scope.is_file ? of_scope.name.number : absent;
    v[Column::mpi_file_key] = of_scope.is_file ? of_scope.key.number : absent;
    v[Column::peer] = is_rooted ? absent : peer;
    v[Column::peer_world] = is_rooted ? absent : world_rank(communicator, peer);
    v[Column::root] = is_rooted ? peer : absent;
    v[Column::tag] = meaning_of(function).kind == CallClass::epoch ? absent : static_cast<std::int32_t>(s.tag[i]);
    v[Column::source] = static_cast<std::int32_t>(s.source[i]);
    v[Column::source_world] = world_rank(communicator, v[Column::source]);
    v[Column::source_tag] = static_cast<std::int32_t>(s.source_tag[i]);
    v.bytes = s.bytes[i];
    v.received = s.received[i];
    v.is_wanted = context_.choice.wants_call(function);
  }
}

// Lists the calls of the chunk. The call that was kept back comes first.
void CallTable::list_calls() {
  const EventColumns::Calls& calls = chunk_->calls;
  const std::size_t n = calls.signature.size();
  const std::size_t first = begins_with_held_ ? 1 : 0;
  const unsigned shift = place_.process->shift();
  const ClockMap& clock = place_.process->clock;
  signature_.resize(first + n);
  start_ns_.resize(first + n);
  duration_ns_.resize(first + n);
  request_.assign(first + n, absent_request);
  ticks_.resize(n);
  for (std::size_t i = 0; i < n; ++i) signature_[first + i] = static_cast<std::uint32_t>(calls.signature[i]);
  for (std::size_t i = 0; i < n; ++i) ticks_[i] = calls.enter[i] << shift;
  clock.unix_ns(ticks_.data(), n, start_ns_.data() + first);
  for (std::size_t i = 0; i < n; ++i) {
    const bool wraps = calls.enter[i] + calls.duration[i] < calls.enter[i];
    duration_ns_[first + i] = wraps ? 0 : clock.duration_ns(calls.duration[i] << shift);
  }
  place_.process->move(place_.thread, start_ns_.data() + first, duration_ns_.data() + first, n);
  if (!begins_with_held_) return;
  signature_[0] = static_cast<std::uint32_t>(values_.size());
  start_ns_[0] = held_->start_ns;
  duration_ns_[0] = held_->duration_ns;
  request_[0] = held_->request;
  values_.push_back(held_->values);
}

// Finds the requests of earlier chunks that are completed in this chunk. This must be done before the starts of this
// chunk are added, which may use the same numbers again.
void CallTable::resolve_requests() {
  const EventColumns::Completions& completions = chunk_->completions;
  resolved_.assign(completions.start.size(), {});
  std::size_t next = 0;
  for (std::size_t i = 0; i < resolved_.size(); ++i) {
    if (completions.start[i] != UINT32_MAX) continue;
    if (place_.completed) {
      resolved_[i] = (*place_.completed)[next++];
      continue;
    }
    const auto open = open_requests_.extract(static_cast<std::uint32_t>(completions.request[i]));
    if (!open.empty()) resolved_[i] = open.mapped();  // if empty, it was started before a loss
  }
}

void CallTable::number_requests() {
  const EventColumns& chunk = *chunk_;
  const std::size_t first = begins_with_held_ ? 1 : 0;
  first_request_ = last_request_ + 1;
  for (std::size_t i = 0; i < chunk.requests.call.size(); ++i) {
    const std::uint32_t call = chunk.requests.call[i];
    const std::uint32_t nth = chunk.requests.nth[i];
    const bool is_call = call != UINT32_MAX;
    ++last_request_;
    if (is_call) request_[first + call] = last_request_;
    const std::int64_t recorded = is_call ? chunk.calls.request[call] : chunk.starts.request[nth];
    if (place_.completed || static_cast<std::uint32_t>(recorded) == completed_in_chunk) continue;
    const std::int64_t signature = is_call ? chunk.calls.signature[call] : chunk.starts.signature[nth];
    const std::int64_t communicator = chunk.signatures.communicator[static_cast<std::size_t>(signature)];
    open_requests_[static_cast<std::uint32_t>(recorded)] = {last_request_, static_cast<std::uint32_t>(communicator),
                                                            place_.thread};
  }
}

// The row of a call of the chunk; UINT32_MAX: the last call of the chunk before.
std::uint32_t CallTable::place_of(std::uint32_t call) const {
  if (call != UINT32_MAX) return call + (begins_with_held_ ? 1 : 0);
  return begins_with_held_ && place_.continues ? 0 : nowhere;
}

// `nth`: index among the requests that the chunk starts.
StartedRequest CallTable::started_here(std::uint32_t nth, std::size_t signature) const {
  return {first_request_ + nth, static_cast<std::uint32_t>(chunk_->signatures.communicator[signature]), place_.thread};
}

CallTable::Request CallTable::described(const StartedRequest& started, std::uint32_t call, std::size_t signature,
                                        bool completes) const {
  const EventColumns::Signatures& s = chunk_->signatures;
  const std::int32_t communicator = place_.process->communicators.find(started.communicator);
  const auto peer = static_cast<std::int32_t>(s.peer[signature]);
  const bool is_of_other = started.request != no_request && started.thread != place_.thread;
  return {place_of(call),
          completes,
          communicator,
          peer,
          world_rank(communicator, peer),
          static_cast<std::int32_t>(s.tag[signature]),
          is_of_other ? static_cast<std::int32_t>(started.thread) : absent,
          s.bytes[signature],
          started.request};
}

// Lists the requests in the order of calls; for each call, first those that it started, then those that it completed.
void CallTable::list_requests() {
  const EventColumns& chunk = *chunk_;
  requests_.clear();
  if (begins_with_held_) append(requests_, held_->requests);
  // Starts are numbered together with calls that start a request.
  std::size_t next = 0;
  for (std::size_t i = 0; i < chunk.starts.call.size(); ++i) {
    StartedRequest started;
    const auto signature = static_cast<std::size_t>(chunk.starts.signature[i]);
    if (static_cast<std::uint32_t>(chunk.starts.request[i]) != no_request) {
      while (chunk.requests.nth[next] != i) ++next;
      started = started_here(static_cast<std::uint32_t>(next), signature);
    }
    requests_.push_back(described(started, chunk.starts.call[i], signature, false));
  }
  const auto signature_of_start = [&](std::uint32_t start) {
    const std::uint32_t call = chunk.requests.call[start];
    return static_cast<std::size_t>(call != UINT32_MAX ? chunk.calls.signature[call]
                                                       : chunk.starts.signature[chunk.requests.nth[start]]);
  };
  for (std::size_t i = 0; i < chunk.completions.call.size(); ++i) {
    const std::uint32_t start = chunk.completions.start[i];
    const StartedRequest started = start == UINT32_MAX ? resolved_[i] : started_here(start, signature_of_start(start));
    const auto signature = static_cast<std::size_t>(chunk.completions.signature[i]);
    requests_.push_back(described(started, chunk.completions.call[i], signature, true));
  }
  const auto is_before = [](const Request& a, const Request& b) { return a.call < b.call; };
  if (!std::is_sorted(requests_.begin(), requests_.end(), is_before))
    std::stable_sort(requests_.begin(), requests_.end(), is_before);
  while (!requests_.empty() && requests_.back().call == nowhere) requests_.pop_back();
}

void CallTable::hold_back() {
  if (signature_.empty()) return;
  const auto last = static_cast<std::uint32_t>(signature_.size() - 1);
  held_.emplace(HeldCall{values_[signature_[last]], start_ns_[last], duration_ns_[last], request_[last], {}});
  signature_.pop_back();
  start_ns_.pop_back();
  duration_ns_.pop_back();
  request_.pop_back();
  const auto of_last =
      std::find_if(requests_.begin(), requests_.end(), [&](const Request& r) { return r.call == last; });
  held_->requests.assign(of_last, requests_.end());
  for (Request& request : held_->requests) request.call = 0;
  requests_.erase(of_last, requests_.end());
}

// Removes calls that are not wanted, and their requests.
void CallTable::choose() {
  if (context_.wants_all()) return;
  chosen_.clear();
  rows_.assign(signature_.size(), nowhere);
  for (std::uint32_t i = 0; i < signature_.size(); ++i) {
    if (!values_[signature_[i]].is_wanted || !context_.filter.wants_time(start_ns_[i], duration_ns_[i])) continue;
    rows_[i] = static_cast<std::uint32_t>(chosen_.size());
    chosen_.push_back(i);
  }
  if (chosen_.size() == signature_.size()) return;
  keep(signature_, chosen_);
  keep(start_ns_, chosen_);
  keep(duration_ns_, chosen_);
  keep(request_, chosen_);
  std::erase_if(requests_, [&](const Request& request) { return rows_[request.call] == nowhere; });
  for (Request& request : requests_) request.call = rows_[request.call];
}

// Fills the columns of times and of values that depend on the signature alone.
void CallTable::fill_values(EventBatch& batch) {
  const std::size_t n = batch.rows();
  if (batch.wants(Column::start_ns)) std::copy_n(start_ns_.data(), n, batch.fill<std::int64_t>(Column::start_ns));
  if (batch.wants(Column::duration_ns))
    std::copy_n(duration_ns_.data(), n, batch.fill<std::int64_t>(Column::duration_ns));
  for (std::size_t i = 0; i < value_columns; ++i) {
    const auto column = static_cast<Column>(first_column + i);
    if (column == Column::peer || column == Column::peer_world || column == Column::tag || !batch.wants(column))
      continue;
    bool any = false, all = true;
    for (std::size_t k = 0; k < values_.size(); ++k) {
      // These are not filled for completions and starts.
      if (k < chunk_->signatures.function.size() && chunk_->signatures.function[k] >= first_other) continue;
      const bool is_there = values_[k].columns[i] != absent;
      any = any || is_there;
      all = all && is_there;
    }
    if (!any) continue;
    auto* out = batch.fill<std::int32_t>(column);
    for (std::size_t r = 0; r < n; ++r) out[r] = values_[signature_[r]].columns[i];
    if (!all) batch.mark_absent(column, out, absent);
  }
  if (batch.wants(Column::received)) {
    auto* out = batch.fill<std::int64_t>(Column::received);
    for (std::size_t r = 0; r < n; ++r) out[r] = values_[signature_[r]].received;
    batch.mark_absent(Column::received, out, absent_bytes);
  }
}

// Fills the columns to which a call with a single request contributes the values of this request.
void CallTable::fill_messages(EventBatch& batch) {
  const std::size_t n = batch.rows();
  const auto column32 = [&](Column column) {
    if (!batch.wants(column)) return static_cast<std::int32_t*>(nullptr);
    auto* out = batch.fill<std::int32_t>(column);
    const std::size_t i = static_cast<std::size_t>(column) - first_column;
    for (std::size_t r = 0; r < n; ++r) out[r] = values_[signature_[r]].columns[i];
    return out;
  };
  std::int32_t* peer = column32(Column::peer);
  std::int32_t* peer_world = column32(Column::peer_world);
  std::int32_t* tag = column32(Column::tag);
  std::int64_t* bytes = nullptr;
  if (batch.wants(Column::bytes)) {
    bytes = batch.fill<std::int64_t>(Column::bytes);
    for (std::size_t r = 0; r < n; ++r) bytes[r] = values_[signature_[r]].bytes;
  }
  std::int32_t* starter = fill_starters(batch);
  for (std::size_t i = 0, end = 0; i < requests_.size(); i = end) {
    const std::uint32_t r = requests_[i].call;
    for (end = i; end < requests_.size() && requests_[end].call == r; ++end)
      if (bytes != nullptr && requests_[end].completes && requests_[end].bytes != absent_bytes)
        bytes[r] = requests_[end].bytes + (bytes[r] == absent_bytes ? 0 : bytes[r]);
    if (end - i != 1) continue;
    const Request& only = requests_[i];
    Values& of = values_[signature_[r]];
    if (of[Column::peer] == absent && of[Column::root] == absent) {
      if (peer != nullptr) peer[r] = only.peer;
      if (peer_world != nullptr) peer_world[r] = only.peer_world;
    }
    if (tag != nullptr && tag[r] == absent) tag[r] = only.tag;
    if (request_[r] != absent_request) continue;
    request_[r] = only.number;
    if (starter != nullptr) starter[r] = only.starter;
  }
  if (peer != nullptr) batch.mark_absent(Column::peer, peer, absent);
  if (peer_world != nullptr) batch.mark_absent(Column::peer_world, peer_world, absent);
  if (tag != nullptr) batch.mark_absent(Column::tag, tag, absent);
  if (bytes != nullptr) batch.mark_absent(Column::bytes, bytes, absent_bytes);
  if (starter != nullptr) batch.mark_absent(Column::starter, starter, absent);
  if (batch.wants(Column::request)) {
    auto* out = batch.fill<std::int64_t>(Column::request);
    std::copy_n(request_.data(), n, out);
    batch.mark_absent(Column::request, out, absent_request);
  }
}

// The column `starter`, filled with nulls; nullptr if no call needs it.
std::int32_t* CallTable::fill_starters(EventBatch& batch) const {
  const auto is_of_other = [](const Request& request) { return request.starter != absent; };
  if (!batch.wants(Column::starter) || std::none_of(requests_.begin(), requests_.end(), is_of_other)) return nullptr;
  auto* starters = batch.fill<std::int32_t>(Column::starter);
  std::fill_n(starters, batch.rows(), absent);
  return starters;
}

// Fills the column of lists, for calls with several requests.
void CallTable::fill_requests(EventBatch& batch) {
  const auto is_alone = [&](std::size_t i) {
    const std::uint32_t call = requests_[i].call;
    return (i == 0 || requests_[i - 1].call != call) && (i + 1 == requests_.size() || requests_[i + 1].call != call);
  };
  std::size_t count = 0;
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (is_alone(i)) continue;
    if (count != i) requests_[count] = requests_[i];
    ++count;
  }
  requests_.resize(count);
  if (count == 0) return;
  const std::size_t n = batch.rows();
  auto* first = batch.arena()->allocate<std::int32_t>(n + 1);
  auto* bits = batch.arena()->allocate<std::uint8_t>(n / 8 + 1);
  std::fill_n(bits, n / 8 + 1, 0);
  std::size_t at = 0, lists = 0;
  for (std::size_t r = 0; r < n; ++r) {
    first[r] = static_cast<std::int32_t>(at);
    const std::size_t before = at;
    while (at < count && requests_[at].call == r) ++at;
    if (at == before) continue;
    bits[r / 8] = static_cast<std::uint8_t>(bits[r / 8] | 1U << r % 8);
    ++lists;
  }
  first[n] = static_cast<std::int32_t>(at);

  arrow::Array items{count, 0, {}, {}, {}, {}};
  const auto add = [&](const auto& value_of, auto nothing) {
    auto* values = batch.arena()->allocate<decltype(nothing)>(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = value_of(requests_[i]);
    arrow::Array& column = items.children.emplace_back(arrow::Array{count, 0, {}, {values, batch.arena()}, {}, {}});
    mark_absent(column, values, nothing, batch.arena());
  };
  const RunTexts& texts = context_.texts;
  // In the order of the schema (event_tables.cpp).
  add([](const Request& r) { return r.number; }, absent_request);
  add([](const Request& r) { return r.starter; }, absent);
  add([&](const Request& r) { return texts.communicator(r.communicator).communicator.number; }, absent);
  add([&](const Request& r) { return texts.communicator(r.communicator).communicator_key.number; }, absent);
  add([](const Request& r) { return r.peer; }, absent);
  add([](const Request& r) { return r.peer_world; }, absent);
  add([](const Request& r) { return r.tag; }, absent);
  add([](const Request& r) { return r.bytes; }, absent_bytes);
  arrow::Array& list = batch.array(Column::requests);
  list = {n, static_cast<std::int64_t>(n - lists), {bits, batch.arena()}, {first, batch.arena()}, {}, {}};
  list.children.push_back(std::move(items));
}

}  // namespace tare::reader
