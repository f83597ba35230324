#include "reader/matching/matcher.h"

#include <deque>
#include <map>
#include <unordered_map>
#include <utility>

#include "reader/matching/call_role.h"
#include "reader/matching/channels.h"
#include "reader/matching/posted_receives.h"
#include "reader/time_arithmetic.h"

namespace tare::reader {
namespace {

using namespace tare::format;

constexpr std::size_t batch_rows = 4096;
constexpr std::int32_t most_ranks = 1 << 24;  // what damage says is more is no rank
// Requests of a rank that are never completed, as they were freed, must not pile up: more than tare keeps at a time.
constexpr std::size_t most_started = 1U << 15;

using Slot = std::uint32_t;
constexpr Slot none = UINT32_MAX;

// One end of a message.
struct Half {
  Part part;
  Channel channel{};
  std::int32_t world = 0;
  Slot other = none;
  Direction direction = Direction::sent;
  bool is_open = false;      // a receive whose channel is not known
  bool is_exchange = false;  // completes together with a send, in silence perhaps
};

struct CollectiveKey {
  std::int32_t communicator, scope;
  std::uint64_t number;
  bool operator==(const CollectiveKey&) const = default;
};
struct CollectiveHash {
  std::size_t operator()(const CollectiveKey& of) const {
    std::uint64_t hash = of.number * 0x9e3779b97f4a7c15;
    hash ^= std::uint64_t{static_cast<std::uint32_t>(of.communicator)} << 32 | static_cast<std::uint32_t>(of.scope);
    return (hash ^ hash >> 29) * 0xbf58476d1ce4e5b9;
  }
};
struct Instance {
  Collective what;
  CallRole role = CallRole::to_all;
  std::size_t complete = 0;
  std::size_t last = 0;         // part that began last
  std::size_t root = SIZE_MAX;  // part of the root, if it has come
};

// A request under way.
struct Started {
  Slot sent = none, received = none;
  bool is_collective = false;
  CollectiveKey collective{};
  std::uint32_t part = 0;  // of the collective
};

struct Rank {
  const Process* process = nullptr;
  bool has_gap = false;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> calls;  // by thread, so far
  PostedReceives receives;
  std::unordered_map<std::uint64_t, Started> started;                          // by thread and number of the request
  std::map<std::pair<std::int32_t, std::int32_t>, std::uint64_t> collectives;  // so far, by communicator and scope
  std::unordered_map<Channel, std::deque<Slot>, ChannelHash> probed;           // matched and not received

  std::uint64_t next_call(std::uint32_t thread) {
    for (auto& [of, count] : calls)
      if (of == thread) return count++;
    calls.emplace_back(thread, 1);
    return 0;
  }
};

std::uint64_t key_of(std::uint32_t thread, std::uint32_t request) { return std::uint64_t{thread} << 32 | request; }

// A call or request that sends, or receives.
struct Transfer {
  std::int32_t communicator, peer, peer_world, tag;
  std::uint64_t bytes;
};

}  // namespace

struct Matcher::State {
  State(Run& of, Wanted what) : run(of), wanted(what), roles(roles_of_calls(of.functions())) {
    for (const std::string& name : run.functions().names()) {
      is_matched_probe.push_back(name == "MPI_Mprobe");
      takes_matched.push_back(name == "MPI_Mrecv" || name == "MPI_Imrecv" || name == "MPI_Mrecv_c" ||
                              name == "MPI_Imrecv_c");
    }
    lost.resize(run.communicators().size());
    for (std::size_t i = 0; i < run.processes().size(); ++i) {
      const Process& process = run.processes()[i];
      if (process.record.rank < 0 || process.record.rank >= most_ranks || process.world < 0) continue;
      Rank& rank = rank_at(process.world, process.record.rank);
      rank.process = &process;
      if (!process.events.empty() && run.totals(i).overwritten_bytes != 0) lose(process.world, process.record.rank);
    }
  }

  Rank& rank_at(std::int32_t world, std::int32_t rank) {
    const auto w = static_cast<std::size_t>(world), r = static_cast<std::size_t>(rank);
    if (w >= ranks.size()) ranks.resize(w + 1);
    if (r >= ranks[w].size()) ranks[w].resize(r + 1);
    return ranks[w][r];
  }
  Rank* find_rank(std::int32_t world, std::int32_t rank) {
    const auto w = static_cast<std::size_t>(world), r = static_cast<std::size_t>(rank);
    if (w >= ranks.size() || r >= ranks[w].size() || ranks[w][r].process == nullptr) return nullptr;
    return &ranks[w][r];
  }
  bool is_known(std::int32_t communicator) const {
    return communicator >= 0 && run.communicators()[static_cast<std::size_t>(communicator)].key != 0;
  }

  bool has_gap(std::int32_t world, std::int32_t number) {
    const Rank* rank = find_rank(world, number);
    return rank != nullptr && rank->has_gap;
  }
  void lose(std::int32_t world, std::int32_t number);
  void add_call(Rank& rank, const EventRow& row);
  void add_starts(Rank& rank, const EventRow& row, const PartCall& call);
  void complete(Rank& rank, const EventRow& row, const PartCall& call);
  Slot send(const EventRow& row, const PartCall& call, const Transfer& of);
  Slot receive(Rank& rank, const EventRow& row, const PartCall& call, const Transfer& of, bool is_complete);
  Slot receive_probed(Rank& rank, const EventRow& row, const Transfer& of);
  void start(Rank& rank, std::uint64_t key, const Started& started);
  void collective(Rank& rank, const EventRow& row, const PartCall& call, CallRole role);
  void complete(Slot slot, const PartCall& call);
  void complete(const CollectiveKey& key, std::uint32_t part, const PartCall& call);
  void complete_receive(Rank& rank, Slot slot, const EventRequest& request, const PartCall& call);

  Slot make(const EventRow& row, const PartCall& call, const Channel& channel, Direction direction);
  void meet(Slot slot);
  void hand_over(Slot slot);
  void free(Slot slot) {
    halves[slot].part.rank = -1;
    free_slots.push_back(slot);
  }
  auto next_of_channel() {
    return [this](std::uint32_t slot, const Pattern& pattern) {
      halves[slot].is_open = false;
      halves[slot].channel.source = pattern.source;
      halves[slot].channel.tag = pattern.tag;
      meet(slot);
    };
  }

  void tell_end(Slot slot);
  void tell_arrivals(const Instance& instance);
  void tell_end(const Instance& instance, std::size_t part);
  std::size_t last_below(const Collective& what, std::size_t part) const;
  static bool all_that_matter_have_come(const Instance& of) {
    return of.role == CallRole::from_root ? of.root != SIZE_MAX
                                          : of.what.parts.size() == static_cast<std::size_t>(of.what.size);
  }

  Run& run;
  Wanted wanted;
  std::vector<CallRole> roles;
  std::vector<bool> is_matched_probe, takes_matched;  // by function
  std::vector<std::vector<Rank>> ranks;               // by world
  std::vector<bool> lost;                             // communicators: a member has a gap
  std::vector<Half> halves;
  std::vector<Slot> free_slots;
  Channels<Slot> channels;
  std::unordered_map<CollectiveKey, Instance, CollectiveHash> instances;
  std::vector<Message> messages;
  std::vector<Collective> collectives;
  std::vector<End> ends;
  std::vector<std::string> gaps;
};

// What a rank did from here on cannot be numbered, nor what others did with it.
void Matcher::State::lose(std::int32_t world, std::int32_t number) {
  Rank& rank = rank_at(world, number);
  if (std::exchange(rank.has_gap, true)) return;
  gaps.push_back("the trace of rank " + std::to_string(number) +
                 " has gaps: its messages are not matched behind the first");
  for (std::size_t i = 0; i < lost.size(); ++i) {
    const CommunicatorInfo& of = run.communicators()[i];
    if (of.world != world || lost[i]) continue;
    lost[i] = !of.members || of.members->has(number) || (of.remote_members && of.remote_members->has(number));
  }
}

Slot Matcher::State::make(const EventRow& row, const PartCall& call, const Channel& channel, Direction direction) {
  Slot slot = 0;
  if (free_slots.empty()) {
    slot = static_cast<Slot>(halves.size());
    halves.emplace_back();
  } else {
    slot = free_slots.back();
    free_slots.pop_back();
  }
  halves[slot] = {{row.rank, false, call, {}, no_bytes}, channel, row.world, none, direction, false, false};
  return slot;
}

void Matcher::State::meet(Slot slot) {
  const Half& half = halves[slot];
  const Channel& at = half.channel;
  if (has_gap(half.world, at.source) || has_gap(half.world, at.destination)) return;  // stays alone
  const auto [other, is_pair] = channels.meet(at, half.direction, [slot] { return slot; });
  if (!is_pair) return;
  halves[slot].other = other;
  halves[other].other = slot;
  for (const Slot each : {slot, other})
    if (halves[each].part.is_complete) tell_end(each);
  if (halves[slot].part.is_complete && halves[other].part.is_complete) hand_over(slot);
}

void Matcher::State::hand_over(Slot slot) {
  const Half& half = halves[slot];
  if (!wanted.matches) {
    if (half.other != none) free(half.other);
    return free(slot);
  }
  const bool is_sent = half.direction == Direction::sent;
  Message& message = messages.emplace_back();
  message.world = half.world;
  message.communicator = half.channel.communicator;
  message.source = half.channel.source;
  message.destination = half.channel.destination;
  message.tag = half.channel.tag;
  (is_sent ? message.sent : message.received) = half.part;
  if (half.other != none) {
    (is_sent ? message.received : message.sent) = halves[half.other].part;
    free(half.other);
  }
  free(slot);
}

void Matcher::State::complete(Slot slot, const PartCall& call) {
  if (slot == none) return;
  Half& half = halves[slot];
  half.part.is_complete = true;
  half.part.completed = call;
  if (half.other == none) return;
  tell_end(slot);
  if (halves[half.other].part.is_complete) hand_over(slot);
}

void Matcher::State::tell_end(Slot slot) {
  if (!wanted.ends) return;
  const Half& half = halves[slot];
  const Part& other = halves[half.other].part;
  const bool is_sent = half.direction == Direction::sent;
  ends.push_back({is_sent ? End::Kind::sent : End::Kind::received, CallRole::local, half.world,
                  half.channel.communicator, half.part.rank, other.rank, half.channel.tag, half.part.posted,
                  half.part.completed, other.posted});
}

void Matcher::State::add_call(Rank& rank, const EventRow& row) {
  const CallRole role = roles[row.function];
  const PartCall call{
      row.start_ns, sum(row.start_ns, row.duration_ns), rank.next_call(row.thread), row.thread, row.site, row.function};
  if (rank.has_gap) return;
  const bool blocks = row.request == no_request;
  Started started;
  switch (role) {
    case CallRole::send:
    case CallRole::synchronous_send:
      started.sent = send(row, call, {row.communicator, row.peer, row.peer_world, row.tag, row.bytes});
      break;
    case CallRole::receive:
      started.received =
          receive(rank, row, call, {row.communicator, row.peer, row.peer_world, row.tag, row.bytes}, blocks);
      break;
    case CallRole::exchange:
      started.sent = send(row, call, {row.communicator, row.peer, row.peer_world, row.tag, row.bytes});
      started.received = receive(
          rank, row, call, {row.communicator, row.source, row.source_world, row.source_tag, row.received}, blocks);
      if (started.received != none) halves[started.received].is_exchange = true;
      break;
    case CallRole::starts:
      return add_starts(rank, row, call);
    case CallRole::completes:
      return complete(rank, row, call);
    case CallRole::to_all:
    case CallRole::from_root:
    case CallRole::to_root:
    case CallRole::scan:
      return collective(rank, row, call, role);
    case CallRole::local:
      if (is_matched_probe[row.function] && row.peer_world >= 0 && row.tag >= 0) {
        const Transfer taken{row.communicator, row.peer, row.peer_world, row.tag, no_bytes};
        const Slot slot = receive(rank, row, call, taken, false);
        if (slot != none) rank.probed[halves[slot].channel].push_back(slot);
      }
      return;
    case CallRole::unknown:
      return;
  }
  if (!blocks) return start(rank, key_of(row.thread, row.request), started);
  complete(started.sent, call);
  complete(started.received, call);
}

void Matcher::State::start(Rank& rank, std::uint64_t key, const Started& started) {
  if (started.sent == none && started.received == none && !started.is_collective) return;
  if (rank.started.size() >= most_started) {
    // Freed ones: how they completed is not known, nor who of those is still waited for.
    for (const auto& [number, old] : rank.started)
      for (const Slot slot : {old.sent, old.received})
        if (slot != none) {
          Half& half = halves[slot];
          if (half.other == none)
            half.part.is_complete = true, half.part.completed = half.part.posted;
          else
            complete(slot, half.part.posted);
        }
    rank.started.clear();
  }
  rank.started[key] = started;
}

Slot Matcher::State::send(const EventRow& row, const PartCall& call, const Transfer& of) {
  if (of.peer < 0 || of.peer_world < 0 || !is_known(of.communicator) || has_gap(row.world, of.peer_world)) return none;
  const Slot slot = make(row, call, {of.communicator, row.rank, of.peer_world, of.tag}, Direction::sent);
  halves[slot].part.bytes = of.bytes;
  meet(slot);
  return slot;
}

Slot Matcher::State::receive(Rank& rank, const EventRow& row, const PartCall& call, const Transfer& of,
                             bool is_complete) {
  const bool is_open = of.peer == any_source || of.tag == any_tag || of.peer == no_peer || of.tag == no_tag;
  if (of.peer == proc_null || !is_known(of.communicator)) return none;
  if (is_open ? is_complete : of.peer_world < 0) return none;  // which message it took is not known
  if (of.peer_world >= 0 && has_gap(row.world, of.peer_world)) return none;
  if (takes_matched[row.function])
    if (const Slot probed = receive_probed(rank, row, of); probed != none) return probed;
  const std::int32_t source = of.peer < 0 ? any_source : of.peer_world;
  const std::int32_t tag = of.tag < 0 ? any_tag : of.tag;
  const Slot slot = make(row, call, {of.communicator, source, row.rank, tag}, Direction::received);
  halves[slot].part.bytes = is_complete ? of.bytes : no_bytes;
  halves[slot].is_open = is_open;
  if (rank.receives.post(slot, {of.communicator, source, tag})) meet(slot);
  return slot;
}

// The receive of what a matched probe has taken: the oldest of the channel.
Slot Matcher::State::receive_probed(Rank& rank, const EventRow& row, const Transfer& of) {
  const auto found = rank.probed.find({of.communicator, of.peer_world, row.rank, of.tag});
  if (found == rank.probed.end()) return none;
  const Slot slot = found->second.front();
  found->second.pop_front();
  if (found->second.empty()) rank.probed.erase(found);
  halves[slot].part.bytes = of.bytes;
  return slot;
}

void Matcher::State::add_starts(Rank& rank, const EventRow& row, const PartCall& call) {
  const auto add_one = [&](std::uint32_t request, const Transfer& of) {
    if (of.peer == no_peer || request == no_request) return;  // of a collective
    Started started;
    if (of.bytes != no_bytes)
      started.sent = send(row, call, of);
    else
      started.received = receive(rank, row, call, of, false);
    start(rank, key_of(row.thread, request), started);
  };
  if (row.requests.empty()) add_one(row.request, {row.communicator, row.peer, row.peer_world, row.tag, row.bytes});
  for (const EventRequest& each : row.requests)
    add_one(each.request, {each.communicator, each.peer, each.peer_world, each.tag, each.bytes});
}

void Matcher::State::complete(Rank& rank, const EventRow& row, const PartCall& call) {
  for (const EventRequest& request : row.requests) {
    const bool is_own = request.starter == UINT32_MAX;
    const auto found = rank.started.extract(key_of(is_own ? row.thread : request.starter, request.request));
    if (found.empty()) continue;
    const Started& started = found.mapped();
    complete(started.sent, call);
    if (started.received != none) complete_receive(rank, started.received, request, call);
    if (started.is_collective) complete(started.collective, started.part, call);
  }
}

void Matcher::State::complete_receive(Rank& rank, Slot slot, const EventRequest& request, const PartCall& call) {
  Half& half = halves[slot];
  if (request.bytes != no_bytes) half.part.bytes = request.bytes;
  const bool took_nothing = request.peer == no_peer && !half.is_exchange;
  const bool is_known = request.peer_world >= 0 && request.tag >= 0;
  if (half.is_open && !is_known) {
    // Cancelled, or from somebody who is not known.
    rank.receives.drop(slot, next_of_channel());
    return free(slot);
  }
  if (took_nothing && half.other == none) {
    rank.receives.drop(slot, next_of_channel());
    channels.withdraw(half.channel, Direction::received, slot);
    return free(slot);
  }
  const bool was_open = half.is_open;
  half.part.is_complete = true;
  half.part.completed = call;
  if (was_open)
    rank.receives.resolve(slot, request.peer_world, request.tag, next_of_channel());
  else
    complete(slot, call);
}

void Matcher::State::collective(Rank& rank, const EventRow& row, const PartCall& call, CallRole role) {
  const std::uint64_t number = rank.collectives[{row.communicator, row.scope}]++;
  if (!is_known(row.communicator) || lost[static_cast<std::size_t>(row.communicator)]) return;
  const CommunicatorInfo& of = run.communicators()[static_cast<std::size_t>(row.communicator)];
  const bool is_rooted = role == CallRole::from_root || role == CallRole::to_root;
  if (of.inter || !of.members || of.size <= 0 || (is_rooted && row.peer_world < 0)) return;
  const CollectiveKey key{row.communicator, row.scope, number};
  Instance& instance = instances[key];
  Collective& what = instance.what;
  if (what.parts.empty()) {
    what.world = row.world;
    what.communicator = row.communicator;
    what.scope = row.scope;
    what.number = number;
    what.root_world = is_rooted ? row.peer_world : -1;
    what.function = row.function;
    what.size = of.size;
    instance.role = role;
  }
  what.parts.push_back({row.rank, false, call, {}, row.bytes});
  const auto part = static_cast<std::uint32_t>(what.parts.size() - 1);
  if (call.enter_ns >= what.parts[instance.last].posted.enter_ns) instance.last = part;
  if (row.rank == what.root_world) instance.root = part;
  tell_arrivals(instance);
  if (row.request == no_request) return complete(key, part, call);
  start(rank, key_of(row.thread, row.request), {none, none, true, key, part});
}

void Matcher::State::complete(const CollectiveKey& key, std::uint32_t part, const PartCall& call) {
  const auto found = instances.find(key);
  if (found == instances.end()) return;
  Instance& instance = found->second;
  Part& of = instance.what.parts[part];
  of.is_complete = true;
  of.completed = call;
  if (all_that_matter_have_come(instance)) tell_end(instance, part);
  if (++instance.complete != static_cast<std::size_t>(instance.what.size)) return;
  if (wanted.matches) collectives.push_back(std::move(instance.what));
  instances.erase(found);
}

// The part that was posted last may have been what the complete ones waited for.
void Matcher::State::tell_arrivals(const Instance& instance) {
  const std::size_t last = instance.what.parts.size() - 1;
  const bool was_awaited =
      instance.role == CallRole::from_root ? instance.root == last : all_that_matter_have_come(instance);
  if (!wanted.ends || !was_awaited) return;
  for (std::size_t part = 0; part < last; ++part)
    if (instance.what.parts[part].is_complete) tell_end(instance, part);
}

void Matcher::State::tell_end(const Instance& instance, std::size_t part) {
  if (!wanted.ends) return;
  const Collective& what = instance.what;
  std::size_t cause = instance.role == CallRole::from_root ? instance.root : instance.last;
  if (instance.role == CallRole::to_root && part != instance.root) return;
  if (instance.role == CallRole::scan) cause = last_below(what, part);
  const Part& own = what.parts[part];
  const Part& other = what.parts[cause];
  ends.push_back({End::Kind::collective, instance.role, what.world, what.communicator, own.rank, other.rank, no_tag,
                  own.posted, own.completed, other.posted});
}

// Of a prefix reduction, the last of the ranks up to this one.
std::size_t Matcher::State::last_below(const Collective& what, std::size_t part) const {
  const Members& members = *run.communicators()[static_cast<std::size_t>(what.communicator)].members;
  const std::int32_t place = members.rank_of(what.parts[part].rank);
  std::size_t last = part;
  for (std::size_t i = 0; i < what.parts.size(); ++i)
    if (members.rank_of(what.parts[i].rank) < place && what.parts[i].posted.enter_ns > what.parts[last].posted.enter_ns)
      last = i;
  return last;
}

Matcher::Matcher(Run& run, Wanted wanted) : state_(std::make_unique<State>(run, wanted)) {}
Matcher::Matcher(Matcher&&) noexcept = default;
Matcher::~Matcher() = default;

void Matcher::add(const EventRow& row) {
  if (row.kind == EventKind::call) {
    if (Rank* rank = state_->find_rank(row.world, row.rank)) state_->add_call(*rank, row);
  } else if (row.kind == EventKind::loss && state_->find_rank(row.world, row.rank) != nullptr) {
    state_->lose(row.world, row.rank);
  }
}

void Matcher::finish() {
  State& state = *state_;
  for (auto& world : state.ranks)
    for (Rank& rank : world) rank.receives.finish(state.next_of_channel());
  for (Slot slot = 0; slot < state.halves.size(); ++slot) {
    const Half& half = state.halves[slot];
    if (half.part.rank < 0 || half.is_open) continue;
    // What a rank with a gap would have had to do with it is not known.
    const auto has_gap = [&](std::int32_t number) { return state.has_gap(half.world, number); };
    if (half.other == none && (has_gap(half.channel.source) || has_gap(half.channel.destination))) continue;
    state.hand_over(slot);
  }
  for (auto& [key, instance] : state.instances)
    if (!state.lost[static_cast<std::size_t>(key.communicator)]) state.collectives.push_back(std::move(instance.what));
  state.instances.clear();
}

std::vector<Message>& Matcher::messages() { return state_->messages; }
std::vector<Collective>& Matcher::collectives() { return state_->collectives; }
std::vector<End>& Matcher::ends() { return state_->ends; }
const std::vector<std::string>& Matcher::gaps() const { return state_->gaps; }

Result<MatchStream> MatchStream::open(Run& run) {
  EventFilter filter;
  filter.lists_all_requests = true;
  auto events = EventStream::open(run, filter);
  if (!events) return events.failure();
  return MatchStream(std::move(*events), Matcher(run));
}

bool MatchStream::next() {
  messages().clear();
  collectives().clear();
  while (messages().empty() && collectives().empty()) {
    const auto rows = events_.next(batch_rows);
    for (const EventRow& row : rows) matcher_.add(row);
    if (!rows.empty()) continue;
    if (is_finished_) return false;
    is_finished_ = true;
    matcher_.finish();
  }
  return true;
}

std::vector<std::string> MatchStream::warnings() const {
  std::vector<std::string> all = events_.warnings();
  all.insert(all.end(), matcher_.gaps().begin(), matcher_.gaps().end());
  return all;
}

}  // namespace tare::reader
