#include "reader/events/chunk_calls.h"

#include <algorithm>
#include <utility>

#include "format/function_meaning.h"

namespace tare::reader {
namespace {

using namespace tare::format;

constexpr std::uint32_t nowhere = UINT32_MAX;

}  // namespace

void ChunkCalls::read(const EventColumns& chunk, const ChunkPlace& place) {
  chunk_ = &chunk;
  place_ = place;
  begins_with_held_ = held_.has_value();
  value_signatures();
  list_calls();
  resolve_requests();
  number_requests();
  list_requests();
  held_.reset();
  if (!signature.empty() && !has_all_requests()) hold_back();
  choose();
  join_requests();
}

// Whether no further chunk contains requests of the last call.
bool ChunkCalls::has_all_requests() const {
  if (place_.is_last || (!place_.continues && signature.size() == 1 && begins_with_held_)) return true;
  const auto is_behind = [&](const EventColumns::Events& events) {
    if (events.time.empty()) return false;
    const std::int64_t time = place_.process->shown(place_.thread, place_.process->time_of(events.time.back()));
    return is_before(start_ns.back(), time, static_cast<std::uint64_t>(duration_ns.back()));
  };
  return is_behind(chunk_->events) || is_behind(chunk_->raw_events);
}

std::int32_t ChunkCalls::world_rank(std::int32_t communicator, std::int32_t peer) const {
  return context_->run.world_rank(communicator, place_.process->record.rank, peer);
}

void ChunkCalls::value_signatures() {
  const EventColumns::Signatures& s = chunk_->signatures;
  const Process& process = *place_.process;
  values.assign(s.function.size(), {});
  for (std::size_t i = 0; i < values.size(); ++i) {
    EventRow& v = values[i];
    const auto recorded = static_cast<std::uint16_t>(s.function[i]);
    if (recorded >= first_other) v.kind = EventKind::loss;
    if (recorded >= first_other) continue;
    const auto communicator = static_cast<std::uint32_t>(s.communicator[i]);
    v.function = FunctionNames::lookup(*process.functions, recorded);
    v.rooted = context_->rooted[v.function];
    v.site = process.sites.find(static_cast<std::uint32_t>(s.site[i]));
    v.communicator = process.communicators.find(communicator);
    v.scope = process.scopes.find(communicator);
    v.bytes = static_cast<std::uint64_t>(s.bytes[i]);
    v.peer = static_cast<std::int32_t>(s.peer[i]);
    v.peer_world = world_rank(v.communicator, v.peer);
    (meaning_of(v.function).kind == CallClass::epoch ? v.epoch : v.tag) = static_cast<std::int32_t>(s.tag[i]);
    v.received = static_cast<std::uint64_t>(s.received[i]);
    v.source = static_cast<std::int32_t>(s.source[i]);
    v.source_world = world_rank(v.communicator, v.source);
    v.source_tag = static_cast<std::int32_t>(s.source_tag[i]);
  }
}

// Lists the calls of the chunk. The call that was kept back comes first.
void ChunkCalls::list_calls() {
  const EventColumns::Calls& calls = chunk_->calls;
  const std::size_t n = calls.signature.size();
  const std::size_t first = begins_with_held_ ? 1 : 0;
  const unsigned shift = place_.process->shift();
  const ClockMap& clock = place_.process->clock;
  signature.resize(first + n);
  start_ns.resize(first + n);
  duration_ns.resize(first + n);
  request.assign(first + n, no_request);
  ticks_.resize(n);
  for (std::size_t i = 0; i < n; ++i) signature[first + i] = static_cast<std::uint32_t>(calls.signature[i]);
  for (std::size_t i = 0; i < n; ++i) ticks_[i] = calls.enter[i] << shift;
  clock.unix_ns(ticks_.data(), n, start_ns.data() + first);
  for (std::size_t i = 0; i < n; ++i) {
    const bool wraps = calls.enter[i] + calls.duration[i] < calls.enter[i];
    duration_ns[first + i] = wraps ? 0 : clock.duration_ns(calls.duration[i] << shift);
  }
  place_.process->move(place_.thread, start_ns.data() + first, duration_ns.data() + first, n);
  if (!begins_with_held_) return;
  signature[0] = static_cast<std::uint32_t>(values.size());
  start_ns[0] = held_->start_ns;
  duration_ns[0] = held_->duration_ns;
  request[0] = held_->request;
  values.push_back(held_->values);
}

// Finds the requests of earlier chunks that are completed in this chunk. This must be done before the starts of this
// chunk are added, which may use the same numbers again.
void ChunkCalls::resolve_requests() {
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

void ChunkCalls::number_requests() {
  const EventColumns& chunk = *chunk_;
  const std::size_t first = begins_with_held_ ? 1 : 0;
  first_request_ = last_request_ + 1;
  for (std::size_t i = 0; i < chunk.requests.call.size(); ++i) {
    const std::uint32_t call = chunk.requests.call[i];
    const std::uint32_t nth = chunk.requests.nth[i];
    const bool is_call = call != UINT32_MAX;
    ++last_request_;
    if (is_call) request[first + call] = last_request_;
    const std::int64_t recorded = is_call ? chunk.calls.request[call] : chunk.starts.request[nth];
    if (place_.completed || static_cast<std::uint32_t>(recorded) == completed_in_chunk) continue;
    const std::int64_t of = is_call ? chunk.calls.signature[call] : chunk.starts.signature[nth];
    const std::int64_t communicator = chunk.signatures.communicator[static_cast<std::size_t>(of)];
    open_requests_[static_cast<std::uint32_t>(recorded)] = {last_request_, static_cast<std::uint32_t>(communicator),
                                                            place_.thread};
  }
}

// The index of a call of the chunk; UINT32_MAX: the last call of the chunk before.
std::uint32_t ChunkCalls::place_of(std::uint32_t call) const {
  if (call != UINT32_MAX) return call + (begins_with_held_ ? 1 : 0);
  return begins_with_held_ && place_.continues ? 0 : nowhere;
}

// `nth`: index among the requests that the chunk starts.
StartedRequest ChunkCalls::started_here(std::uint32_t nth, std::size_t of) const {
  return {first_request_ + nth, static_cast<std::uint32_t>(chunk_->signatures.communicator[of]), place_.thread};
}

ChunkCalls::Request ChunkCalls::described(const StartedRequest& started, std::uint32_t call, std::size_t of,
                                          bool completes) const {
  const EventColumns::Signatures& s = chunk_->signatures;
  Request request{{}, place_of(call), completes};
  request.request = started.request;
  if (started.request != no_request && started.thread != place_.thread) request.starter = started.thread;
  request.communicator = place_.process->communicators.find(started.communicator);
  request.peer = static_cast<std::int32_t>(s.peer[of]);
  request.peer_world = world_rank(request.communicator, request.peer);
  request.tag = static_cast<std::int32_t>(s.tag[of]);
  request.bytes = static_cast<std::uint64_t>(s.bytes[of]);
  return request;
}

// Lists the requests in the order of calls; for each call, first those that it started, then those that it completed.
void ChunkCalls::list_requests() {
  const EventColumns& chunk = *chunk_;
  requests = begins_with_held_ ? held_->requests : std::vector<Request>{};
  // Starts are numbered together with calls that start a request.
  std::size_t next = 0;
  for (std::size_t i = 0; i < chunk.starts.call.size(); ++i) {
    StartedRequest started;
    const auto of = static_cast<std::size_t>(chunk.starts.signature[i]);
    if (static_cast<std::uint32_t>(chunk.starts.request[i]) != no_request) {
      while (chunk.requests.nth[next] != i) ++next;
      started = started_here(static_cast<std::uint32_t>(next), of);
    }
    requests.push_back(described(started, chunk.starts.call[i], of, false));
  }
  const auto signature_of_start = [&](std::uint32_t start) {
    const std::uint32_t call = chunk.requests.call[start];
    return static_cast<std::size_t>(call != UINT32_MAX ? chunk.calls.signature[call]
                                                       : chunk.starts.signature[chunk.requests.nth[start]]);
  };
  for (std::size_t i = 0; i < chunk.completions.call.size(); ++i) {
    const std::uint32_t start = chunk.completions.start[i];
    const StartedRequest started = start == UINT32_MAX ? resolved_[i] : started_here(start, signature_of_start(start));
    const auto of = static_cast<std::size_t>(chunk.completions.signature[i]);
    requests.push_back(described(started, chunk.completions.call[i], of, true));
  }
  const auto is_before = [](const Request& a, const Request& b) { return a.call < b.call; };
  if (!std::is_sorted(requests.begin(), requests.end(), is_before))
    std::stable_sort(requests.begin(), requests.end(), is_before);
  while (!requests.empty() && requests.back().call == nowhere) requests.pop_back();
}

void ChunkCalls::hold_back() {
  const auto last = static_cast<std::uint32_t>(signature.size() - 1);
  held_.emplace(HeldCall{values[signature[last]], start_ns[last], duration_ns[last], request[last], {}});
  signature.pop_back();
  start_ns.pop_back();
  duration_ns.pop_back();
  request.pop_back();
  const auto of_last = std::find_if(requests.begin(), requests.end(), [&](const Request& r) { return r.call == last; });
  held_->requests.assign(of_last, requests.end());
  for (Request& each : held_->requests) each.call = 0;
  requests.erase(of_last, requests.end());
}

// Removes calls that are not wanted, and their requests.
void ChunkCalls::choose() {
  if (context_->wants_all()) return;
  chosen_.clear();
  rows_.assign(signature.size(), nowhere);
  for (std::uint32_t i = 0; i < signature.size(); ++i) {
    if (!context_->choice.wants_call(values[signature[i]].function) ||
        !context_->filter.wants_time(start_ns[i], duration_ns[i]))
      continue;
    rows_[i] = static_cast<std::uint32_t>(chosen_.size());
    chosen_.push_back(i);
  }
  if (chosen_.size() == signature.size()) return;
  keep(signature, chosen_);
  keep(start_ns, chosen_);
  keep(duration_ns, chosen_);
  keep(request, chosen_);
  std::erase_if(requests, [&](const Request& each) { return rows_[each.call] == nowhere; });
  for (Request& each : requests) each.call = rows_[each.call];
}

void ChunkCalls::join_requests() {
  messages.resize(count());
  for (std::size_t i = 0; i < count(); ++i) {
    const EventRow& of = values[signature[i]];
    messages[i] = {
        .request = request[i], .peer = of.peer, .peer_world = of.peer_world, .tag = of.tag, .bytes = of.bytes};
  }
  for (std::size_t i = 0, end = 0; i < requests.size(); i = end) {
    EventRequest& message = messages[requests[i].call];
    for (end = i; end < requests.size() && requests[end].call == requests[i].call; ++end)
      if (requests[end].completes && requests[end].bytes != no_bytes)
        message.bytes = requests[end].bytes + (message.bytes == no_bytes ? 0 : message.bytes);
    if (end - i != 1 || context_->filter.lists_all_requests) continue;
    const Request& only = requests[i];
    if (message.peer == no_peer) {
      message.peer = only.peer;
      message.peer_world = only.peer_world;
    }
    if (message.tag == no_tag) message.tag = only.tag;
    if (message.request != no_request) continue;
    message.request = only.request;
    message.starter = only.starter;
  }
}

}  // namespace tare::reader
