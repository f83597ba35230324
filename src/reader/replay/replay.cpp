#include "reader/replay/replay.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "reader/events/event_stream.h"
#include "reader/events/traced_time.h"
#include "reader/matching/call_role.h"
#include "reader/matching/channels.h"
#include "reader/replay/replay_engine.h"

namespace tare::reader {
namespace {

using namespace tare::format;
using Event = ReplayEngine::Event;

struct MessageEvents {
  Event sent, posted;
  bool operator==(const MessageEvents&) const = default;
};

constexpr const char* has_gaps = "the trace has gaps";

// A request that has not completed.
struct Started {
  bool is_known = true;         // whether it is known what its completion waits for
  std::optional<Event> awaits;  // the event that its completion waits for, if any
  // For a receive whose message is not known yet: its communicator, and the timeline and step at which it was posted.
  std::int32_t communicator = -1;
  std::size_t timeline = 0;
  std::optional<std::size_t> posted;
  bool takes = false;  // a receive whose message is known: it has a place among those of its channel
  bool is_exchange = false;
};

// A thread, up to the row that was read last.
struct Thread {
  std::uint32_t number = 0;
  std::size_t timeline = 0;
  std::int64_t enter_ns = 0, last_ns = 0;  // begin and end of the last call
  std::optional<std::size_t> entered;      // the step before that call, if several threads of the process may call MPI
  std::optional<Event> at_entry;           // the event at that step, if another thread needs one
  std::int64_t begin_ns = 0;               // of its first call
  std::uint32_t waits_at = 0;              // tag of the waits of that call: its site, plus 1
  std::int64_t useful_ns = 0, unknown_ns = 0;
};

// A process.
struct Rank {
  const Process* process = nullptr;
  std::int64_t begin_ns = 0, end_ns = 0;  // of its traced time
  std::int64_t start_ns = 0;              // begin_ns, relative to the first process of its host
  Thread first;                           // lives from begin to end
  bool is_first_known = false;
  std::int32_t finalize_site = -1;                                             // of the call that ends its net time
  std::map<std::uint32_t, Thread> others;                                      // by number
  std::unordered_map<std::uint64_t, Started> started;                          // by thread and number of the request
  std::map<std::pair<std::int32_t, std::int32_t>, std::uint32_t> collectives;  // so far, by communicator and scope
};

std::uint64_t key_of(std::uint32_t thread, std::uint32_t request) { return std::uint64_t{thread} << 32 | request; }
Started& started(Rank& rank, const Thread& thread, std::uint32_t request) {
  return rank.started[key_of(thread.number, request)];
}

// What a call or request sends or receives.
struct Transfer {
  std::int32_t communicator;
  std::int32_t peer, peer_world, tag;
  std::uint32_t request;  // no_request: the call itself
};

// Replays the ranks of a world.
class World {
 public:
  World(const Run& run, const std::vector<CallRole>& roles) : run_(run), roles_(roles) {}

  // `lacks_begin`: its trace has only its newest events.
  void add(const Process& process, const TracedTime& time, bool lacks_begin);
  // To be called after all processes have been added.
  void start();
  void add(const EventRow& row);
  ReplayedWorld result(int world, const std::vector<Without>& changes);

 private:
  Thread& thread_of(Rank& rank, const EventRow& row);
  Event entry_of(Thread& thread);
  Event end_of(const Thread& thread);
  void add_call(Rank& rank, Thread& thread, const EventRow& row);
  void add_starts(Rank& rank, Thread& thread, const EventRow& row);
  void complete(Rank& rank, Thread& thread, const EventRow& row);
  bool complete(Rank& rank, Thread& thread, const EventRequest& request);
  void send(Rank& rank, Thread& thread, const Transfer& of, bool is_synchronous);
  bool receive(Rank& rank, Thread& thread, const Transfer& of);
  bool collective(Rank& rank, Thread& thread, const EventRow& row, CallRole role);
  Event scan(const Rank& rank, const CommunicatorInfo& of, const EventRow& row, std::uint32_t number);
  void wait(Rank& rank, Thread& thread, std::uint32_t request, std::optional<Event> event);
  void keep(Thread& thread, const EventRow& row);

  // The tag of the time of a rank before the calls of a site.
  std::uint32_t tag_of(std::int32_t rank, std::int32_t site) {
    return tags_.try_emplace({rank, site}, static_cast<std::uint32_t>(tags_.size() + 1)).first->second;
  }
  ReplayEngine::Change change_of(const Without& of) const;
  // The times that ranks share, in both ways; the second one has none if it is as the first.
  struct Shared {
    ReplayEngine::Change by_number, by_part;
  };
  void even_out(const std::vector<Without::Even>& even, Shared& shared) const;

  bool is_known(std::int32_t communicator) const {
    return communicator >= 0 && run_.communicators()[static_cast<std::size_t>(communicator)].key != 0;
  }
  MessageEvents message(const Channel& channel, bool is_sent);
  Event event_of(const EventRow& row, std::uint32_t number, std::int32_t part, std::uint32_t reached_by);

  const Run& run_;
  const std::vector<CallRole>& roles_;
  ReplayEngine engine_;
  std::map<std::int32_t, Rank> ranks_;
  Channels<MessageEvents> channels_;
  std::map<std::array<std::int64_t, 4>, Event> collectives_;             // by communicator, scope, number and part
  std::map<std::pair<std::int32_t, std::int32_t>, std::uint32_t> tags_;  // by rank and site
  std::uint32_t last_waits_at_ = 0;                                      // the largest Thread::waits_at
  std::string obstacle_;
};

void World::add(const Process& process, const TracedTime& time, bool lacks_begin) {
  if (lacks_begin) obstacle_ = has_gaps;
  if (process.record.callbacks_since != 0) obstacle_ = "a rank has communicated in a callback";
  Rank& rank = ranks_[process.record.rank];
  rank.process = &process;
  rank.begin_ns = time.begin_ns;
  rank.end_ns = time.end_ns;
}

// Sets the start of each rank relative to the first one of its host. Clocks of different hosts are not compared.
void World::start() {
  std::map<std::string, std::int64_t> first;
  for (const auto& [number, rank] : ranks_) {
    const auto [at, is_new] = first.try_emplace(rank.process->record.host, rank.begin_ns);
    if (!is_new) at->second = std::min(at->second, rank.begin_ns);
  }
  for (auto& [number, rank] : ranks_) {
    rank.start_ns = difference(rank.begin_ns, first.at(rank.process->record.host));
    rank.first.timeline = engine_.add_timeline(rank.start_ns);
    rank.first.last_ns = rank.begin_ns;
  }
}

MessageEvents World::message(const Channel& channel, bool is_sent) {
  const auto make = [this] {
    const Event sent = engine_.add_event();
    return MessageEvents{sent, engine_.add_event()};
  };
  return channels_.match(channel, is_sent ? Direction::sent : Direction::received, make).first;
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
  if (row.kind == EventKind::loss) obstacle_ = has_gaps;
  if (row.kind != EventKind::call) return;
  if (!std::exchange(rank.is_first_known, true)) rank.first.number = row.thread;  // the thread that calls MPI_Init
  if (row.start_ns >= rank.end_ns && row.thread == rank.first.number && rank.finalize_site < 0)
    rank.finalize_site = row.site;
  if (row.start_ns < rank.begin_ns || row.start_ns >= rank.end_ns || !obstacle_.empty()) return;
  Thread& thread = thread_of(rank, row);
  const std::int64_t gap_ns = difference(row.start_ns, thread.last_ns);
  thread.waits_at = static_cast<std::uint32_t>(row.site + 1);
  last_waits_at_ = std::max(last_waits_at_, thread.waits_at);
  engine_.spend(thread.timeline, std::max<std::int64_t>(gap_ns, 0), tag_of(row.rank, row.site));
  if (gap_ns > 0) thread.useful_ns = sum(thread.useful_ns, gap_ns);
  if (rank.process->may_hand_over()) thread.entered = engine_.reach(thread.timeline, {});
  thread.at_entry.reset();
  thread.enter_ns = row.start_ns;
  thread.last_ns = std::max(thread.last_ns, sum(row.start_ns, row.duration_ns));
  add_call(rank, thread, row);
}

// The trace does not say when a thread began. In the replay, its first call keeps the recorded distance from the last
// point at which the first thread entered or left MPI.
Thread& World::thread_of(Rank& rank, const EventRow& row) {
  Thread& first = rank.first;
  if (row.thread == first.number) return first;
  const auto [at, is_new] = rank.others.try_emplace(row.thread);
  Thread& thread = at->second;
  if (!is_new) return thread;
  const bool is_inside = first.last_ns > row.start_ns && first.entered;
  thread.number = row.thread;
  thread.timeline = engine_.add_timeline(rank.start_ns);
  engine_.await(thread.timeline, is_inside ? entry_of(first) : end_of(first));
  engine_.spend(thread.timeline, difference(row.start_ns, is_inside ? first.enter_ns : first.last_ns));
  thread.begin_ns = thread.last_ns = row.start_ns;
  return thread;
}

// The event that the thread enters its current call.
Event World::entry_of(Thread& thread) {
  if (!thread.at_entry) {
    thread.at_entry = engine_.add_event();
    engine_.set_event(thread.timeline, *thread.entered, *thread.at_entry);
  }
  return *thread.at_entry;
}

// The event that the thread has left its last call.
Event World::end_of(const Thread& thread) {
  const Event event = engine_.add_event();
  engine_.reach(thread.timeline, event);
  return event;
}

// The call keeps its recorded duration.
void World::keep(Thread& thread, const EventRow& row) {
  engine_.spend(thread.timeline, row.duration_ns);
  thread.unknown_ns = sum(thread.unknown_ns, row.duration_ns);
}

// If the call starts a request, the completion of the request waits for the event; else the call itself.
void World::wait(Rank& rank, Thread& thread, std::uint32_t request, std::optional<Event> event) {
  if (request != no_request)
    started(rank, thread, request) = {true, event, -1, 0, {}};
  else if (event)
    engine_.await(thread.timeline, *event, thread.waits_at);
}

void World::add_call(Rank& rank, Thread& thread, const EventRow& row) {
  const CallRole role = roles_[row.function];
  const Transfer transfer{row.communicator, row.peer, row.peer_world, row.tag, row.request};
  const bool starts_request = row.request != no_request;
  bool is_known = true;
  switch (role) {
    case CallRole::local:
      wait(rank, thread, row.request, {});
      // The target of an access may have to do something before it is complete.
      if (starts_request && meaning_of(row.function).kind == CallClass::one_sided)
        started(rank, thread, row.request).is_known = false;
      break;
    case CallRole::send:
    case CallRole::synchronous_send:
      if (has_sent(row)) send(rank, thread, transfer, role == CallRole::synchronous_send);
      break;
    case CallRole::receive:
      is_known = receive(rank, thread, transfer);
      break;
    case CallRole::exchange: {
      if (has_sent(row)) send(rank, thread, {row.communicator, row.peer, row.peer_world, row.tag, no_request}, false);
      // If it starts a request, the source is known only when the request completes.
      const std::int32_t source = starts_request ? any_source : row.source;
      is_known = receive(rank, thread, {row.communicator, source, row.source_world, row.source_tag, row.request});
      if (starts_request) started(rank, thread, row.request).is_exchange = true;
      break;
    }
    case CallRole::starts:
      add_starts(rank, thread, row);
      break;
    case CallRole::completes:
      complete(rank, thread, row);
      break;
    case CallRole::unknown:
    case CallRole::may_wait:
      is_known = false;
      break;
    case CallRole::to_all:
    case CallRole::from_root:
    case CallRole::to_root:
    case CallRole::scan:
      is_known = collective(rank, thread, row, role);
      break;
  }
  if (is_known) return;
  if (starts_request) started(rank, thread, row.request) = {false, {}, -1, 0, {}};
  keep(thread, row);
}

// Only a synchronous send waits, until the receive is posted. Other sends do not wait.
void World::send(Rank& rank, Thread& thread, const Transfer& of, bool is_synchronous) {
  const bool is_sent = of.peer >= 0 && of.peer_world >= 0 && is_known(of.communicator);
  if (!is_sent) return wait(rank, thread, of.request, {});
  const MessageEvents m = message({of.communicator, rank.process->record.rank, of.peer_world, of.tag}, true);
  engine_.reach(thread.timeline, m.sent);
  wait(rank, thread, of.request, is_synchronous ? std::optional(m.posted) : std::nullopt);
}

// False if it is not known which message the receive takes.
bool World::receive(Rank& rank, Thread& thread, const Transfer& of) {
  const bool is_open = of.peer == any_source || of.tag == any_tag || of.tag == no_tag;
  if (of.peer == proc_null) {
    wait(rank, thread, of.request, {});
    return true;
  }
  if (!is_known(of.communicator)) return false;
  if (is_open && of.request != no_request) {
    const std::size_t posted = engine_.reach(thread.timeline, {});
    started(rank, thread, of.request) = {true, {}, of.communicator, thread.timeline, posted};
    return true;
  }
  if (is_open || of.peer_world < 0) return false;
  const MessageEvents m = message({of.communicator, of.peer_world, rank.process->record.rank, of.tag}, false);
  engine_.reach(thread.timeline, m.posted);
  wait(rank, thread, of.request, m.sent);
  if (of.request != no_request) started(rank, thread, of.request).takes = true;
  return true;
}

// Requests started by MPI_Start or MPI_Startall. Only requests that send or receive have a peer, and only those that
// send have bytes. If there is a single request, it is described by the row itself.
void World::add_starts(Rank& rank, Thread& thread, const EventRow& row) {
  const auto add_one = [&](const Transfer& of, std::uint64_t bytes) {
    bool is_known = of.peer != no_peer;
    if (is_known && bytes != no_bytes)
      send(rank, thread, of, false);
    else if (is_known)
      is_known = receive(rank, thread, of);
    if (!is_known && of.request != no_request) started(rank, thread, of.request) = {false, {}, -1, 0, {}};
  };
  if (row.requests.empty() && row.request != no_request)
    add_one({row.communicator, row.peer, row.peer_world, row.tag, row.request}, row.bytes);
  for (const EventRequest& each : row.requests)
    add_one({each.communicator, each.peer, each.peer_world, each.tag, each.request}, each.bytes);
}

void World::complete(Rank& rank, Thread& thread, const EventRow& row) {
  bool are_known = true;
  for (const EventRequest& request : row.requests) are_known = complete(rank, thread, request) && are_known;
  if (!are_known) keep(thread, row);
}

bool World::complete(Rank& rank, Thread& thread, const EventRequest& request) {
  const bool is_own = request.starter == UINT32_MAX;
  const auto found = rank.started.extract(key_of(is_own ? thread.number : request.starter, request.request));
  if (found.empty()) return request.peer == no_peer;  // a send whose handle other requests had, too
  const Started& of = found.mapped();
  if (of.takes && request.peer == no_peer) {  // later receives have taken the message that it was given
    obstacle_ = "a receive was cancelled";
    return true;
  }
  if (of.awaits) engine_.await(thread.timeline, *of.awaits, thread.waits_at);
  if (!of.posted) return of.is_known;
  // Cancelled, or MPI_PROC_NULL. The status of an exchange may not say what it has received.
  if (request.peer == no_peer || request.peer == proc_null) return request.peer == proc_null || !of.is_exchange;
  if (request.peer_world < 0 || request.tag < 0) return false;
  const MessageEvents m = message({of.communicator, request.peer_world, rank.process->record.rank, request.tag}, false);
  engine_.set_event(of.timeline, *of.posted, m.posted);
  engine_.await(thread.timeline, m.sent, thread.waits_at);
  return true;
}

// The n-th collective on a communicator, window or file is the same operation on all members. False if it is not known
// what the call waits for.
bool World::collective(Rank& rank, Thread& thread, const EventRow& row, CallRole role) {
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
  if (role != CallRole::from_root || is_root) engine_.reach(thread.timeline, event);
  const bool waits = role == CallRole::from_root ? !is_root : role != CallRole::to_root || is_root;
  wait(rank, thread, row.request, waits ? std::optional(event) : std::nullopt);
  return true;
}

// The event that all ranks up to this one have entered the operation.
Event World::scan(const Rank& rank, const CommunicatorInfo& of, const EventRow& row, std::uint32_t number) {
  const std::int32_t place = of.members->rank_of(rank.process->record.rank);
  const Event event = event_of(row, number, place, 1);
  if (place > 0) engine_.order(event_of(row, number, place - 1, 1), event);
  return event;
}

// The time outside MPI. With several threads, it is their mean share times the net time, as in the profile.
std::int64_t useful_ns(const Rank& rank) {
  if (rank.others.empty()) return rank.first.useful_ns;
  const auto net_ns = static_cast<double>(difference(rank.end_ns, rank.begin_ns));
  double useful = static_cast<double>(rank.first.useful_ns), life = net_ns;
  for (const auto& [number, thread] : rank.others) {
    useful += static_cast<double>(thread.useful_ns);
    life += static_cast<double>(difference(thread.last_ns, thread.begin_ns));
  }
  return life > 0 ? rounded_ns(useful / life * net_ns) : 0;
}

ReplayEngine::Change World::change_of(const Without& of) const {
  ReplayEngine::Change change;
  change.spending.resize(tags_.size() + 1);
  for (const Without::Faster& faster : of.faster)
    if (const auto found = tags_.find({faster.rank, faster.site}); found != tags_.end())
      change.spending[found->second] = {std::max(faster.factor, 0.0), std::max<std::int64_t>(faster.max_ns, 0)};
  change.ignored.assign(last_waits_at_ + 1, false);
  for (const std::int32_t site : of.not_waiting)
    if (site >= 0 && static_cast<std::uint32_t>(site) < last_waits_at_)
      change.ignored[static_cast<std::size_t>(site) + 1] = true;
  return change;
}

// What ranks have done of their work before each of their times, and how long these take: their work per time. So ranks
// with other numbers of times can be compared at the same part of them.
class WorkByPart {
 public:
  explicit WorkByPart(const std::vector<double>& times_ns) : until_ns_(1) {
    for (const double ns : times_ns) until_ns_.push_back(until_ns_.back() + ns);
  }
  // The work up to this part of the times, from 0 to 1.
  double until(double part) const {
    const double at = part * static_cast<double>(until_ns_.size() - 1);
    const auto whole = std::min(static_cast<std::size_t>(at), until_ns_.size() - 1);
    if (whole + 1 == until_ns_.size()) return until_ns_.back();
    return until_ns_[whole] + (at - static_cast<double>(whole)) * (until_ns_[whole + 1] - until_ns_[whole]);
  }

 private:
  std::vector<double> until_ns_;
};

void World::even_out(const std::vector<Without::Even>& even, Shared& shared) const {
  std::map<std::int32_t, std::map<std::uint32_t, double>> own;  // by rank and tag
  for (const Without::Even& each : even)
    if (const auto found = tags_.find({each.rank, each.site}); found != tags_.end())
      own[each.rank][found->second] = std::clamp(each.own, 0.0, 1.0);
  // The times of each rank before calls of the line, whatever their sites; of its first thread. And the work in them.
  std::map<std::int32_t, std::vector<ReplayEngine::Spent>> times;
  std::map<std::int32_t, std::vector<double>> work_ns;
  std::vector<double> together_ns;
  bool are_as_many = true;
  for (const auto& [number, tags] : own) {
    std::vector<ReplayEngine::Spent>& of_rank = times[number];
    for (const ReplayEngine::Spent& spent : engine_.spent(ranks_.at(number).first.timeline))
      if (tags.contains(spent.tag)) of_rank.push_back(spent);
    are_as_many = are_as_many && of_rank.size() == times.begin()->second.size();
    together_ns.resize(std::max(together_ns.size(), of_rank.size()));
    for (std::size_t k = 0; k < of_rank.size(); ++k) {
      work_ns[number].push_back(static_cast<double>(of_rank[k].ns) * (1 - tags.at(of_rank[k].tag)));
      together_ns[k] += work_ns[number][k];
    }
  }
  std::vector<WorkByPart> works;
  for (const auto& [number, of_rank] : work_ns) works.emplace_back(of_rank);
  const auto until = [&](double part) {
    double all_ns = 0;
    for (const WorkByPart& work : works) all_ns += work.until(part);
    return all_ns;
  };
  const auto ranks = static_cast<double>(ranks_.size());
  for (const auto& [number, of_rank] : times) {
    const auto count = static_cast<double>(of_rank.size());
    double before_ns = 0;
    for (std::size_t k = 0; k < of_rank.size(); ++k) {
      const auto& [tag, ns] = of_rank[k];
      const double kept_ns = static_cast<double>(ns) * own.at(number).at(tag);
      shared.by_number.spending[tag].each.push_back(rounded_ns(kept_ns + together_ns[k] / ranks));
      if (are_as_many) continue;
      const double until_ns = until(static_cast<double>(k + 1) / count);
      shared.by_part.spending[tag].each.push_back(
          rounded_ns(kept_ns + (until_ns - std::exchange(before_ns, until_ns)) / ranks));
    }
  }
  if (are_as_many) shared.by_part.spending.clear();
}

ReplayedWorld World::result(int world, const std::vector<Without>& changes) {
  ReplayedWorld result;
  result.world = world;
  result.obstacle = obstacle_;
  if (!obstacle_.empty()) return result;
  for (auto& [number, rank] : ranks_) {
    const std::int64_t rest_ns = std::max<std::int64_t>(difference(rank.end_ns, rank.first.last_ns), 0);
    engine_.spend(rank.first.timeline, rest_ns, tag_of(number, rank.finalize_site));
    rank.first.useful_ns = sum(rank.first.useful_ns, rest_ns);
    result.runtime_ns = std::max(result.runtime_ns, sum(rank.start_ns, difference(rank.end_ns, rank.begin_ns)));
    result.useful_ns = std::max(result.useful_ns, useful_ns(rank));
    result.unknown_ns = std::max(result.unknown_ns, rank.first.unknown_ns);
    for (const auto& [thread_number, thread] : rank.others)
      result.unknown_ns = std::max(result.unknown_ns, thread.unknown_ns);
  }
  const auto last = [](const std::vector<std::int64_t>& ends) { return *std::max_element(ends.begin(), ends.end()); };
  const auto ends = engine_.run();
  if (!ends) return {world, "a rank waits for a call that is not in the trace"};
  result.ideal_ns = last(*ends);
  for (const Without& change : changes)
    if (change.world == world) {
      const auto replayed_ns = [&](const ReplayEngine::Change& of) {
        const auto changed = engine_.run(of);
        return changed ? last(*changed) : result.ideal_ns;
      };
      Shared shared{change_of(change), change_of(change)};
      even_out(change.even, shared);
      result.without_ns.push_back(replayed_ns(shared.by_number));
      const bool differs = !shared.by_part.spending.empty();
      result.without_by_part_ns.push_back(differs ? replayed_ns(shared.by_part) : result.without_ns.back());
    }
  return result;
}

}  // namespace

Result<std::vector<ReplayedWorld>> replay(Run& run, const std::vector<Without>& changes) {
  const std::vector<CallRole> roles = roles_of_calls(run.functions());
  std::map<int, World> worlds;
  const std::vector<TracedTime> times = traced_times(run);
  for (std::size_t i = 0; i < times.size(); ++i)
    if (const Process& process = run.processes()[i]; process.record.rank >= 0)
      worlds.try_emplace(process.world, run, roles)
          .first->second.add(process, times[i], run.totals(i).overwritten_bytes != 0);
  for (auto& [number, world] : worlds) world.start();
  auto events = EventStream::open(run, {.lists_all_requests = true});
  if (!events) return events.failure();
  for (auto rows = events->next(); !rows.empty(); rows = events->next()) {
    for (const EventRow& row : rows) {
      const auto found = worlds.find(row.world);
      if (found != worlds.end()) found->second.add(row);
    }
  }
  std::vector<ReplayedWorld> results;
  for (auto& [number, world] : worlds) {
    results.push_back(world.result(number, changes));
    if (!events->warnings().empty()) results.back() = {number, "the trace is damaged"};
  }
  return results;
}

}  // namespace tare::reader
