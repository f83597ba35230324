#include "reader/replay.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "reader/call_role.h"
#include "reader/event_stream.h"
#include "reader/replay_engine.h"

namespace tare::reader {
namespace {

using namespace tare::format;
using Event = ReplayEngine::Event;

constexpr std::size_t batch_rows = 4096;

// Messages between two ranks of a world, in the order in which they are sent, and received.
struct Channel {
  std::int32_t communicator, source, destination, tag;
  bool operator==(const Channel&) const = default;
};
struct ChannelHash {
  std::size_t operator()(const Channel& of) const {
    std::uint64_t hash = 0;
    for (const std::int32_t part : {of.communicator, of.source, of.destination, of.tag})
      hash = (hash ^ static_cast<std::uint32_t>(part)) * 0x9e3779b97f4a7c15, hash ^= hash >> 32;
    return hash;
  }
};

struct Message {
  Event sent, posted;
};

// A request under way.
struct Started {
  bool is_known = true;               // what its completion waits for
  std::optional<Event> awaits;        // that, if anything
  std::int32_t communicator = -1;     // of a receive whose message is not known yet,
  std::optional<std::size_t> posted;  // and its step
};

// A process: what it is at, as its rows come.
struct Rank {
  const Process* process = nullptr;
  std::size_t timeline = 0;
  std::int64_t begin_ns = 0, end_ns = 0;  // of its net time
  std::int64_t start_ns = 0;              // after the first of its host
  std::int64_t last_ns = 0;               // end of the call before
  std::int64_t useful_ns = 0, unknown_ns = 0;
  std::optional<std::uint32_t> thread;
  std::unordered_map<std::uint32_t, Started> started;                          // by number of the request
  std::map<std::pair<std::int32_t, std::int32_t>, std::uint32_t> collectives;  // so far, by communicator and scope
};

// A call or request that sends, or receives.
struct Transfer {
  std::int32_t communicator;
  std::int32_t peer, peer_world, tag;
  std::uint32_t request;  // no_request: the call itself
};

// The ranks of a world.
class World {
 public:
  World(const Run& run, const std::vector<CallRole>& roles) : run_(run), roles_(roles) {}

  void add(const Process& process);
  // When all have been added.
  void start();
  void add(const EventRow& row);
  ReplayedWorld result(int world);

 private:
  void add_call(Rank& rank, const EventRow& row);
  void add_starts(Rank& rank, const EventRow& row);
  void complete(Rank& rank, const EventRow& row);
  bool complete(Rank& rank, const EventRequest& request);
  void send(Rank& rank, const Transfer& of, bool is_synchronous);
  bool receive(Rank& rank, const Transfer& of);
  bool collective(Rank& rank, const EventRow& row, CallRole role);
  Event scan(const Rank& rank, const CommunicatorInfo& of, const EventRow& row, std::uint32_t number);
  void wait(Rank& rank, std::uint32_t request, std::optional<Event> event);
  void keep(Rank& rank, const EventRow& row);

  bool is_known(std::int32_t communicator) const {
    return communicator >= 0 && run_.communicators()[static_cast<std::size_t>(communicator)].key != 0;
  }
  Message message(const Channel& channel, bool is_sent);
  Event event_of(const EventRow& row, std::uint32_t number, std::int32_t part, std::uint32_t reached_by);

  const Run& run_;
  const std::vector<CallRole>& roles_;
  ReplayEngine engine_;
  std::map<std::int32_t, Rank> ranks_;
  struct Numbered {
    std::vector<Message> messages;
    std::size_t sent = 0, received = 0;
  };
  std::unordered_map<Channel, Numbered, ChannelHash> channels_;
  std::map<std::array<std::int64_t, 4>, Event> collectives_;  // by communicator, scope, number and part
  std::string obstacle_;
};

void World::add(const Process& process) {
  const ProcessRecord& r = process.record;
  Rank& rank = ranks_[r.rank];
  rank.process = &process;
  rank.begin_ns = process.clock.unix_ns(r.init_leave != 0 ? r.init_leave : r.attach);
  rank.end_ns = process.clock.unix_ns(r.finalize_enter != 0 ? r.finalize_enter : process.end);
  rank.last_ns = rank.begin_ns;
}

// Clocks are compared within a host only.
void World::start() {
  std::map<std::string, std::int64_t> first;
  for (const auto& [number, rank] : ranks_) {
    const auto [at, is_new] = first.try_emplace(rank.process->record.host, rank.begin_ns);
    if (!is_new) at->second = std::min(at->second, rank.begin_ns);
  }
  for (auto& [number, rank] : ranks_) {
    rank.start_ns = difference(rank.begin_ns, first.at(rank.process->record.host));
    rank.timeline = engine_.add_timeline(rank.start_ns);
  }
}

Message World::message(const Channel& channel, bool is_sent) {
  Numbered& of = channels_[channel];
  const std::size_t number = is_sent ? of.sent++ : of.received++;
  if (number == of.messages.size()) {
    const Event sent = engine_.add_event();
    of.messages.push_back({sent, engine_.add_event()});
  }
  return of.messages[number];
}

Event World::event_of(const EventRow& row, std::uint32_t number, std::int32_t part, std::uint32_t reached_by) {
  const auto [at, is_new] = collectives_.try_emplace({row.communicator, row.scope, number, part}, Event{});
  if (is_new) at->second = engine_.add_event(reached_by);
  return at->second;
}

void World::add(const EventRow& row) {
  const auto found = ranks_.find(row.rank);
  if (found == ranks_.end()) return;
  Rank& rank = found->second;
  if (row.kind == EventKind::loss) obstacle_ = "the trace has gaps";
  if (row.kind != EventKind::call || row.start_ns < rank.begin_ns || row.start_ns >= rank.end_ns) return;
  if (rank.thread.value_or(row.thread) != row.thread) obstacle_ = "several threads of a process call MPI";
  rank.thread = row.thread;
  if (!obstacle_.empty()) return;
  const std::int64_t gap_ns = difference(row.start_ns, rank.last_ns);
  if (gap_ns > 0) {
    engine_.spend(rank.timeline, gap_ns);
    rank.useful_ns = sum(rank.useful_ns, gap_ns);
  }
  rank.last_ns = std::max(rank.last_ns, sum(row.start_ns, row.duration_ns));
  add_call(rank, row);
}

// It takes as long as it took.
void World::keep(Rank& rank, const EventRow& row) {
  engine_.spend(rank.timeline, row.duration_ns);
  rank.unknown_ns = sum(rank.unknown_ns, row.duration_ns);
}

// The call waits, or what completes its request will.
void World::wait(Rank& rank, std::uint32_t request, std::optional<Event> event) {
  if (request != no_request)
    rank.started[request] = {true, event, -1, {}};
  else if (event)
    engine_.await(rank.timeline, *event);
}

void World::add_call(Rank& rank, const EventRow& row) {
  const CallRole role = roles_[row.function];
  const Transfer transfer{row.communicator, row.peer, row.peer_world, row.tag, row.request};
  const bool starts_request = row.request != no_request;
  bool is_known = true;
  switch (role) {
    case CallRole::local:
      wait(rank, row.request, {});
      break;
    case CallRole::send:
    case CallRole::synchronous_send:
      send(rank, transfer, role == CallRole::synchronous_send);
      break;
    case CallRole::receive:
      is_known = receive(rank, transfer);
      break;
    case CallRole::exchange: {
      send(rank, {row.communicator, row.peer, row.peer_world, row.tag, no_request}, false);
      // Of one that starts a request, the source is known when it completes.
      const std::int32_t source = starts_request ? any_source : row.source;
      is_known = receive(rank, {row.communicator, source, row.source_world, row.source_tag, row.request});
      break;
    }
    case CallRole::starts:
      add_starts(rank, row);
      break;
    case CallRole::completes:
      complete(rank, row);
      break;
    case CallRole::unknown:
      is_known = false;
      break;
    case CallRole::to_all:
    case CallRole::from_root:
    case CallRole::to_root:
    case CallRole::scan:
      is_known = collective(rank, row, role);
      break;
  }
  if (is_known) return;
  if (starts_request) rank.started[row.request] = {false, {}, -1, {}};
  keep(rank, row);
}

// A message is on its way when it is sent: only a synchronous send waits, for the receive to be posted.
void World::send(Rank& rank, const Transfer& of, bool is_synchronous) {
  const bool is_sent = of.peer >= 0 && of.peer_world >= 0 && is_known(of.communicator);
  if (!is_sent) return wait(rank, of.request, {});
  const Message m = message({of.communicator, rank.process->record.rank, of.peer_world, of.tag}, true);
  engine_.reach(rank.timeline, m.sent);
  wait(rank, of.request, is_synchronous ? std::optional(m.posted) : std::nullopt);
}

// False if it cannot be told which message it takes.
bool World::receive(Rank& rank, const Transfer& of) {
  const bool is_open = of.peer == any_source || of.tag == any_tag || of.tag == no_tag;
  if (of.peer == proc_null) {
    wait(rank, of.request, {});
    return true;
  }
  if (!is_known(of.communicator)) return false;
  if (is_open && of.request != no_request) {
    rank.started[of.request] = {true, {}, of.communicator, engine_.reach(rank.timeline, {})};
    return true;
  }
  if (is_open || of.peer_world < 0) return false;
  const Message m = message({of.communicator, of.peer_world, rank.process->record.rank, of.tag}, false);
  engine_.reach(rank.timeline, m.posted);
  wait(rank, of.request, m.sent);
  return true;
}

// Of starts, only those that send have bytes, and only transfers a peer.
void World::add_starts(Rank& rank, const EventRow& row) {
  for (const EventRequest& request : row.requests) {
    const Transfer of{request.communicator, request.peer, request.peer_world, request.tag, request.request};
    bool is_known = request.peer != no_peer;
    if (is_known && request.bytes != no_bytes)
      send(rank, of, false);
    else if (is_known)
      is_known = receive(rank, of);
    if (!is_known && request.request != no_request) rank.started[request.request] = {false, {}, -1, {}};
  }
}

void World::complete(Rank& rank, const EventRow& row) {
  bool are_known = true;
  for (const EventRequest& request : row.requests) are_known = complete(rank, request) && are_known;
  if (!are_known) keep(rank, row);
}

bool World::complete(Rank& rank, const EventRequest& request) {
  const auto found = rank.started.extract(request.request);
  if (found.empty()) return request.peer == no_peer;  // another thread's; or a send, whose handle had others'
  const Started& of = found.mapped();
  if (of.awaits) engine_.await(rank.timeline, *of.awaits);
  if (!of.posted) return of.is_known;
  if (request.peer == no_peer || request.peer == proc_null) return true;  // cancelled, or from nobody
  if (request.peer_world < 0 || request.tag < 0) return false;
  const Message m = message({of.communicator, request.peer_world, rank.process->record.rank, request.tag}, false);
  engine_.set_event(rank.timeline, *of.posted, m.posted);
  engine_.await(rank.timeline, m.sent);
  return true;
}

// Those of a communicator, or window, are the same ones on all members, in the same order.
bool World::collective(Rank& rank, const EventRow& row, CallRole role) {
  const std::uint32_t number = rank.collectives[{row.communicator, row.scope}]++;
  if (!is_known(row.communicator)) return false;
  const CommunicatorInfo& of = run_.communicators()[static_cast<std::size_t>(row.communicator)];
  if (of.inter || !of.members || of.size <= 0) return false;
  const bool is_rooted = role == CallRole::from_root || role == CallRole::to_root;
  if (is_rooted && row.peer_world < 0) return false;
  const bool is_root = is_rooted && row.peer_world == rank.process->record.rank;
  Event event{};
  if (role == CallRole::scan)
    event = scan(rank, of, row, number);
  else
    event = event_of(row, number, 0, role == CallRole::from_root ? 1 : static_cast<std::uint32_t>(of.size));
  if (role != CallRole::from_root || is_root) engine_.reach(rank.timeline, event);
  const bool waits = role == CallRole::from_root ? !is_root : role != CallRole::to_root || is_root;
  wait(rank, row.request, waits ? std::optional(event) : std::nullopt);
  return true;
}

// That all up to this rank have come.
Event World::scan(const Rank& rank, const CommunicatorInfo& of, const EventRow& row, std::uint32_t number) {
  const std::int32_t place = of.members->rank_of(rank.process->record.rank);
  const Event event = event_of(row, number, place, 1);
  if (place > 0) engine_.order(event_of(row, number, place - 1, 1), event);
  return event;
}

ReplayedWorld World::result(int world) {
  ReplayedWorld result;
  result.world = world;
  result.obstacle = obstacle_;
  if (!obstacle_.empty()) return result;
  for (auto& [number, rank] : ranks_) {
    const std::int64_t rest_ns = std::max<std::int64_t>(difference(rank.end_ns, rank.last_ns), 0);
    engine_.spend(rank.timeline, rest_ns);
    rank.useful_ns = sum(rank.useful_ns, rest_ns);
    result.runtime_ns = std::max(result.runtime_ns, sum(rank.start_ns, difference(rank.end_ns, rank.begin_ns)));
    result.useful_ns = std::max(result.useful_ns, rank.useful_ns);
    result.unknown_ns = std::max(result.unknown_ns, rank.unknown_ns);
  }
  if (const auto ends = engine_.run())
    result.ideal_ns = *std::max_element(ends->begin(), ends->end());
  else
    result = {world, "a rank waits for a call that is not in the trace", 0, 0, 0, 0};
  return result;
}

}  // namespace

Result<std::vector<ReplayedWorld>> replay(const Run& run) {
  const std::vector<CallRole> roles = roles_of_calls(run.functions());
  std::map<int, World> worlds;
  for (const Process& process : run.processes())
    if (process.record.rank >= 0) worlds.try_emplace(process.world, run, roles).first->second.add(process);
  for (auto& [number, world] : worlds) world.start();
  EventFilter filter;
  filter.lists_all_requests = true;
  auto events = EventStream::open(run, filter);
  if (!events) return events.failure();
  for (auto rows = events->next(batch_rows); !rows.empty(); rows = events->next(batch_rows)) {
    for (const EventRow& row : rows) {
      const auto found = worlds.find(row.world);
      if (found != worlds.end()) found->second.add(row);
    }
  }
  std::vector<ReplayedWorld> results;
  for (auto& [number, world] : worlds) {
    results.push_back(world.result(number));
    if (!events->warnings().empty()) results.back() = {number, "the trace is damaged", 0, 0, 0, 0};
  }
  return results;
}

}  // namespace tare::reader
