#include "reader/matching/matcher.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "format/function_meaning.h"
#include "reader/matching/call_role.h"
#include "reader/matching/collective_matcher.h"
#include "reader/matching/epoch_matcher.h"
#include "reader/matching/message_matcher.h"
#include "reader/matching/request_limit.h"
#include "reader/matching/trace_gaps.h"
#include "reader/model/by_rank.h"
#include "reader/time_arithmetic.h"

namespace tare::reader {
namespace {

using namespace tare::format;

constexpr MessageMatcher::Slot none = MessageMatcher::none;

// A request that has not completed.
struct Started {
  MessageMatcher::Slot sent = none, received = none;
  std::optional<CollectiveMatcher::Taken> collective{};
};

struct Rank {
  bool is_traced = false;
  bool has_new_receives = false;                               // since its last MPI_Cancel
  std::int64_t incomplete_since = INT64_MAX;                   // Process::incomplete_since()
  std::vector<std::pair<std::uint32_t, std::uint64_t>> calls;  // number of calls so far, by thread
  MessageMatcher::Receives receives;
  std::unordered_map<std::uint64_t, Started> started;                          // by thread and number of the request
  std::map<std::pair<std::int32_t, std::int32_t>, std::uint64_t> collectives;  // so far, by communicator and scope
  std::uint32_t epoch = 0;                                                     // see Channel::epoch

  std::uint64_t next_call(std::uint32_t thread) {
    for (auto& [of, count] : calls)
      if (of == thread) return count++;
    calls.emplace_back(thread, 1);
    return 0;
  }
};

std::uint64_t key_of(std::uint32_t thread, std::uint32_t request) { return std::uint64_t{thread} << 32 | request; }

}  // namespace

// Keeps track of the calls and requests of each rank. Passes sends, receives and collective operations to the two
// matchers.
struct Matcher::State {
  State(Run& run, Wanted what)
      : roles(roles_of_calls(run.functions())),
        gaps(run),
        message_matcher(run, gaps, what.matches ? &messages : nullptr, what.ends ? &ends : nullptr),
        collective_matcher(run, gaps, what.matches ? &collectives : nullptr, what.ends ? &ends : nullptr),
        epoch_matcher(run, gaps, ends),
        wants_ends(what.ends) {
    for (std::size_t i = 0; i < run.processes().size(); ++i) {
      const Process& process = run.processes()[i];
      if (!can_be_rank(process.world, process.record.rank)) continue;
      Rank& rank = ranks.at(process.world, process.record.rank);
      rank.is_traced = true;
      rank.incomplete_since = std::min(rank.incomplete_since, process.incomplete_since());
      if (run.totals(i).overwritten_bytes != 0) gaps.add(process.world, process.record.rank, TraceGaps::Cause::loss);
    }
  }

  Rank* find_rank(std::int32_t world, std::int32_t rank) {
    Rank* found = ranks.find(world, rank);
    return found != nullptr && found->is_traced ? found : nullptr;
  }

  void add_call(Rank& rank, const EventRow& row);
  void add_starts(Rank& rank, const EventRow& row, const PartCall& call);
  void add_collective(Rank& rank, const EventRow& row, const PartCall& call, CallRole role);
  void start(Rank& rank, std::uint64_t key, const Started& started);
  void complete_requests(Rank& rank, const EventRow& row, const PartCall& call);
  void add_cancel(Rank& rank);
  void add_gap(Rank& rank, const EventRow& row);
  void abandon(Rank& rank);

  std::vector<CallRole> roles;  // by function
  ByRank<Rank> ranks;
  std::vector<Message> messages;
  std::vector<Collective> collectives;
  std::vector<End> ends;
  TraceGaps gaps;
  MessageMatcher message_matcher;
  CollectiveMatcher collective_matcher;
  EpochMatcher epoch_matcher;
  bool wants_ends;
};

void Matcher::State::add_call(Rank& rank, const EventRow& row) {
  const CallRole role = roles[row.function];
  const PartCall call{
      row.start_ns, sum(row.start_ns, row.duration_ns), rank.next_call(row.thread), row.thread, row.site, row.function,
      row.request};
  if (gaps.has_rank(row.world, row.rank)) return;
  if (call.enter_ns >= rank.incomplete_since) return gaps.add(row.world, row.rank, TraceGaps::Cause::callbacks);
  if (wants_ends) epoch_matcher.add(row, call, rank.epoch);
  if (meaning_of(row.function).cancels) return add_cancel(rank);
  const bool blocks = row.request == no_request;
  const Transfer to_peer{row.communicator, row.peer, row.peer_world, row.tag, row.bytes, rank.epoch};
  Started started;
  switch (role) {
    case CallRole::send:
    case CallRole::synchronous_send:
      if (has_sent(row)) started.sent = message_matcher.send(row, call, to_peer);
      break;
    case CallRole::receive:
      started.received = message_matcher.receive(rank.receives, row, call, to_peer, blocks);
      break;
    case CallRole::exchange:
      if (has_sent(row)) started.sent = message_matcher.send(row, call, to_peer);
      started.received = message_matcher.receive_of_exchange(
          rank.receives, row, call,
          {row.communicator, row.source, row.source_world, row.source_tag, row.received, rank.epoch}, blocks);
      break;
    case CallRole::starts:
      return add_starts(rank, row, call);
    case CallRole::completes:
      return complete_requests(rank, row, call);
    case CallRole::to_all:
    case CallRole::may_wait:
    case CallRole::from_root:
    case CallRole::to_root:
    case CallRole::scan:
      return add_collective(rank, row, call, role);
    case CallRole::local:
      return message_matcher.probe(rank.receives, row, call, rank.epoch);
    case CallRole::unknown:
      return;
  }
  if (!blocks) return start(rank, key_of(row.thread, row.request), started);
  message_matcher.complete(started.sent, call);
  message_matcher.complete(started.received, call);
}

void Matcher::State::add_starts(Rank& rank, const EventRow& row, const PartCall& call) {
  const auto add_one = [&](std::uint32_t request, const Transfer& of) {
    if (of.peer == no_peer || request == no_request) return;  // a collective or partitioned operation
    Started started;
    PartCall posted = call;
    posted.request = request;
    if (of.bytes != no_bytes)
      started.sent = message_matcher.send(row, posted, of);
    else
      started.received = message_matcher.receive(rank.receives, row, posted, of, false);
    start(rank, key_of(row.thread, request), started);
  };
  if (row.requests.empty())
    add_one(row.request, {row.communicator, row.peer, row.peer_world, row.tag, row.bytes, rank.epoch});
  for (const EventRequest& each : row.requests)
    add_one(each.request, {each.communicator, each.peer, each.peer_world, each.tag, each.bytes, rank.epoch});
}

void Matcher::State::add_collective(Rank& rank, const EventRow& row, const PartCall& call, CallRole role) {
  const std::uint64_t number = rank.collectives[{row.communicator, row.scope}]++;
  const auto taken = collective_matcher.begin(row, call, role, number, rank.epoch);
  if (!taken) return;
  if (row.request == no_request) return collective_matcher.complete(*taken, call);
  start(rank, key_of(row.thread, row.request), {none, none, taken});
}

void Matcher::State::start(Rank& rank, std::uint64_t key, const Started& started) {
  if (started.sent == none && started.received == none && !started.collective) return;
  if (rank.started.size() >= max_started) abandon(rank);  // so many can only be freed requests
  rank.started[key] = started;
  if (started.received != none) rank.has_new_receives = true;
}

// Gives up all requests of a rank: how they completed is not known.
void Matcher::State::abandon(Rank& rank) {
  for (const auto& [number, old] : rank.started) {
    message_matcher.complete_unseen(old.sent);
    message_matcher.complete_unseen(old.received);
  }
  rank.started.clear();
}

void Matcher::State::add_gap(Rank& rank, const EventRow& row) {
  const std::uint32_t epoch = gaps.epoch_behind(row);
  if (epoch == 0) return gaps.add(row.world, row.rank, TraceGaps::Cause::loss);
  gaps.add_chosen(row.world, row.rank);
  abandon(rank);
  message_matcher.finish(rank.receives);
  rank.receives = {};
  rank.has_new_receives = false;
  rank.collectives.clear();
  rank.epoch = epoch;
}

void Matcher::State::complete_requests(Rank& rank, const EventRow& row, const PartCall& call) {
  for (const EventRequest& request : row.requests) {
    const bool is_own = request.starter == UINT32_MAX;
    const auto found = rank.started.extract(key_of(is_own ? row.thread : request.starter, request.request));
    if (found.empty()) continue;
    const Started& started = found.mapped();
    message_matcher.complete(started.sent, call);
    message_matcher.complete_receive(rank.receives, started.received, request, call);
    if (started.collective) collective_matcher.complete(*started.collective, call);
  }
}

void Matcher::State::add_cancel(Rank& rank) {
  if (!rank.has_new_receives) return;
  rank.has_new_receives = false;
  std::vector<MessageMatcher::Slot> under_way;
  for (const auto& [key, each] : rank.started)
    if (each.received != none) under_way.push_back(each.received);
  message_matcher.may_cancel(std::move(under_way));
}

Matcher::Matcher(Run& run, Wanted wanted) : state_(std::make_unique<State>(run, wanted)) {}
Matcher::Matcher(Matcher&&) noexcept = default;
Matcher::~Matcher() = default;

void Matcher::add(const EventRow& row) {
  if (row.kind == EventKind::call) {
    if (Rank* rank = state_->find_rank(row.world, row.rank)) state_->add_call(*rank, row);
  } else if (row.kind == EventKind::loss) {
    if (Rank* rank = state_->find_rank(row.world, row.rank)) state_->add_gap(*rank, row);
  }
}

void Matcher::finish() {
  state_->ranks.each([&](Rank& rank) { state_->message_matcher.finish(rank.receives); });
  state_->message_matcher.finish();
  state_->collective_matcher.finish();
}

std::vector<Message>& Matcher::messages() { return state_->messages; }
std::vector<Collective>& Matcher::collectives() { return state_->collectives; }
std::vector<End>& Matcher::ends() { return state_->ends; }

std::vector<std::string> Matcher::warnings() const {
  std::vector<std::string> all = state_->gaps.lines();
  if (const std::size_t channels = state_->message_matcher.left_out_channels(); channels != 0)
    all.push_back("messages of " + std::to_string(channels) + (channels == 1 ? " channel" : " channels") +
                  " (sender, receiver, communicator, tag) are not matched after the first gap of the trace: some seem "
                  "to be sent before a collective operation of all ranks and received after it");
  return all;
}

}  // namespace tare::reader
