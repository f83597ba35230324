#include "reader/waits/wait_states.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "format/function_meaning.h"
#include "reader/events/event_stream.h"
#include "reader/events/traced_time.h"
#include "reader/matching/matcher.h"
#include "reader/model/by_rank.h"
#include "reader/time_arithmetic.h"
#include "reader/waits/delays.h"
#include "reader/waits/scheduled_times.h"
#include "reader/waits/synchronisations.h"

namespace tare::reader {
namespace {

using namespace tare::format;

// Limits of the number of calls that are kept in memory: for each thread, and for all threads together.
constexpr std::size_t max_calls = 1024, min_calls = 32, all_calls = 1U << 22;
// Polls with at most this time between them are one wait. After so many of them, a longer time between two is no work,
// but the thread had no processor.
constexpr std::int64_t between_polls_ns = 1000;
constexpr std::uint64_t many_polls = 100;
// If a call both sends and receives, its wait is only attributed to a late receiver if that wait is longer by this
// factor than the wait for its own message.
constexpr double clearly = 1.1;

// The last call of a thread, for which it may not be known yet how long it waited.
struct Pending {
  PartCall call{INT64_MIN, INT64_MIN};
  std::int64_t begin_ns = 0;  // of the first of its polls
  bool is_poll = false;
  bool is_followed = false;   // the trace shows what it waits for, if it waits
  std::uint64_t polls = 0;    // number of polls in a row
  std::int64_t flush_ns = 0;  // behind it: the thread wrote its event buffer
  std::uint32_t process = 0;
  std::optional<WaitState> wait;
  bool is_received = false;  // `wait` is for a message or a collective, and not for a receiver
};

// A probe in which a thread waited for a message that it then received.
struct Probed {
  PartCall call;
  std::int32_t source = -1, tag = -1, communicator = -1;
};

// The last wait of a thread for a message.
struct Received {
  std::int32_t source = -1;
  std::uint16_t function = 0;
  std::int32_t site = -1;
  std::uint64_t number = 0;  // of the call
  std::int64_t begin_ns = 0, end_ns = 0;
  std::int64_t wrong_ns = 0;  // part of the wait that is counted as WrongOrder
};

struct Thread {
  std::uint32_t index = 0;
  Pending last;
  Received received;
  std::uint64_t calls = 0;
  std::int64_t lost_until_ns = INT64_MIN;  // end of the last gap in its trace
  std::optional<Probed> probed;
  History history;
  Synchronisations synchronised;
};

std::int64_t overlap_ns(const PartCall& call, std::int64_t begin_ns, std::int64_t until_ns) {
  return difference(std::min(until_ns, call.leave_ns), begin_ns);
}

WaitKind kind_of(const End& end) {
  switch (end.kind) {
    case End::Kind::posted:
      return WaitKind::late_post;
    case End::Kind::accessed:
      return WaitKind::early_wait;
    case End::Kind::completed:
      return WaitKind::late_complete;
    case End::Kind::unlocked:
      return WaitKind::lock_contention;
    case End::Kind::progress:
      return WaitKind::wait_for_progress;
    default:
      break;
  }
  switch (end.role) {
    case CallRole::from_root:
      return WaitKind::late_broadcast;
    case CallRole::to_root:
      return WaitKind::early_reduce;
    case CallRole::scan:
      return WaitKind::early_scan;
    default:
      return meaning_of(end.posted.function).operation == Operation::barrier ? WaitKind::wait_at_barrier
                                                                             : WaitKind::wait_at_n_to_n;
  }
}

// Whether the trace shows what such a call waits for. Of neighbours, and of the other group of an intercommunicator,
// which may be another world, it does not.
bool is_followed(const EventRow& row, const FunctionMeaning& meaning, const Run& run) {
  const CallRole role = role_of_call(meaning);
  if (role == CallRole::unknown || role == CallRole::may_wait) return false;
  return row.communicator < 0 || !run.communicators()[static_cast<std::size_t>(row.communicator)].inter;
}

}  // namespace

struct WaitStates::State {
  State(Run& of, EventStream stream, EagerSends known)
      : run(of),
        events(std::move(stream)),
        matcher(of, {false, true}),
        delays(of.sites().size()),
        scheduled(of),
        functions(of.sites().size() + 1),
        eager(std::move(known)) {
    eager.forget_suspects();
    std::size_t locations = 0;
    for (const Process& process : of.processes()) locations += process.record.threads + std::size_t{1};
    const std::vector<TracedTime> times = traced_times(of);
    for (std::size_t i = 0; i < times.size(); ++i) {
      const Process& process = of.processes()[i];
      if (!can_be_rank(process.world, process.record.rank)) continue;
      const std::int64_t begin_ns = times[i].begin_ns;
      by_rank.at(process.world, process.record.rank).begin_ns = begin_ns;
      const auto [first, is_new] = first_ns.try_emplace(process.world, begin_ns);
      if (!is_new) first->second = std::min(first->second, begin_ns);
    }
    capacity = std::clamp(all_calls / (locations + 1), min_calls, max_calls);
  }

  void add(const EventRow& row);
  void add(const End& end);
  void receive(Thread& thread, const End& end);
  void propose(Thread& thread, const End& end, WaitKind kind, const PartCall& call, bool is_received);
  void finish(Thread& thread);
  void emit(Thread& thread, WaitState wait, std::int64_t begin_ns);
  void violate(const End& end);
  static void synchronise(Thread& thread, Thread& other, const End& end);
  void compare_order(Thread& thread, const End& end);
  void finish();

  // A rank.
  struct Place {
    std::vector<std::uint32_t> threads;  // indices
    std::int64_t begin_ns = INT64_MIN;   // of its traced time
  };
  Thread& thread_of(std::int32_t world, std::int32_t rank, std::uint32_t number) {
    std::vector<std::uint32_t>& of = by_rank.at(world, rank).threads;
    for (const std::uint32_t index : of)
      if (traced[index].thread == number) return *threads[index];
    const auto index = static_cast<std::uint32_t>(threads.size());
    const bool is_first = of.empty();
    of.push_back(index);
    threads.push_back(std::make_unique<Thread>());
    threads.back()->index = index;
    // The first thread begins with the traced time, also if MPI_Init is not in the trace.
    if (is_first) threads.back()->last.call.leave_ns = by_rank.at(world, rank).begin_ns;
    traced.push_back({world, rank, number});
    return *threads.back();
  }

  SiteTimes& times_at(const Thread& thread, std::int32_t site) {
    std::vector<SiteTimes>& all = traced[thread.index].sites;
    const auto at = static_cast<std::size_t>(site) + 1;
    if (at >= all.size()) all.resize(at + 1);
    return all[at];
  }
  // Whether a thread did not work between two polls, the last one and the next, although they are apart.
  bool had_no_processor(const Thread& thread, std::uint32_t process, std::int64_t gap_ns, const OffTimes& off) const {
    if (!scheduled.is_known(process) || gap_ns < ScheduledTimes::interval_ns) return thread.last.polls >= many_polls;
    return gap_ns - off.descheduled_ns - off.blocked_ns <= ScheduledTimes::interval_ns;
  }

  Run& run;
  EventStream events;
  Matcher matcher;
  Delays delays;
  ScheduledTimes scheduled;
  std::vector<std::uint16_t> functions;  // by site, plus 1
  std::size_t capacity = max_calls;
  ByRank<Place> by_rank;
  std::vector<std::unique_ptr<Thread>> threads;
  std::vector<TracedThread> traced;
  EagerSends eager;
  Unexpected unexpected;
  std::map<std::int32_t, std::int64_t> first_ns;  // by world: when its first rank left MPI_Init
  std::map<std::tuple<std::int32_t, std::int32_t, std::uint16_t, std::int32_t>, WrongOrder> wrong_order;
  std::map<std::array<std::int32_t, 3>, std::size_t> violated;
  std::vector<ClockViolation> violations;
  std::vector<WaitState> found;
  bool is_finished = false;
};

// When a call begins, it is known what the previous call of the thread waited for, because rows are in the order of
// time.
void WaitStates::State::add(const EventRow& row) {
  if (!can_be_rank(row.world, row.rank)) return;
  if (row.kind == EventKind::flush) {
    Pending& last = thread_of(row.world, row.rank, row.thread).last;
    last.flush_ns = sum(last.flush_ns, row.duration_ns);
  }
  if (row.kind == EventKind::loss) {
    Thread& thread = thread_of(row.world, row.rank, row.thread);
    thread.lost_until_ns = sum(row.start_ns, row.duration_ns);
    thread.last.is_poll = false;  // the next poll is another wait
    thread.probed.reset();
  }
  if (row.kind == EventKind::call) {
    Thread& thread = thread_of(row.world, row.rank, row.thread);
    finish(thread);
    const FunctionMeaning& meaning = meaning_of(row.function);
    const PartCall call{row.start_ns, sum(row.start_ns, row.duration_ns), thread.calls++, row.thread, row.site,
                        row.function};
    const std::int64_t before_ns = std::max(thread.last.call.leave_ns, thread.lost_until_ns);
    const std::int64_t gap_ns = before_ns == INT64_MIN ? 0 : difference(call.enter_ns, before_ns);
    const OffTimes off = scheduled.outside(row.process, row.thread, before_ns, call.enter_ns);
    const bool may_go_on = meaning.is_poll && thread.last.is_poll && thread.last.call.site == call.site;
    const std::int64_t apart_ns = difference(gap_ns, thread.last.flush_ns);
    const bool goes_on =
        may_go_on && (apart_ns <= between_polls_ns || had_no_processor(thread, row.process, apart_ns, off));
    thread.last.polls = goes_on ? thread.last.polls + 1 : 1;
    if (goes_on && !thread.history.empty()) {
      Segment& polls = thread.history.back();
      polls.call_ns = difference(call.leave_ns, thread.last.begin_ns);
    } else {
      // What MPI_Init costs the other ranks is by how much a rank leaves it later than the first.
      const std::int64_t call_ns = meaning.begins_world
                                       ? std::max<std::int64_t>(difference(call.leave_ns, first_ns[row.world]), 0)
                                       : row.duration_ns;
      const std::int64_t outside_ns = meaning.begins_world ? 0 : std::max<std::int64_t>(gap_ns, 0);
      const std::int64_t descheduled_ns = meaning.begins_world ? 0 : off.descheduled_ns;
      const std::int64_t blocked_ns = meaning.begins_world ? 0 : off.blocked_ns;
      thread.history.add(
          {call.number, call.enter_ns, outside_ns, call_ns, 0, descheduled_ns, blocked_ns, 0, row.site, {}}, capacity);
      thread.last.begin_ns = call.enter_ns;
      const auto site = static_cast<std::size_t>(row.site) + 1;
      if (site < functions.size()) functions[site] = row.function;
      SiteTimes& times = times_at(thread, row.site);
      times.outside_ns = sum(times.outside_ns, outside_ns);
      times.descheduled_ns = sum(times.descheduled_ns, descheduled_ns);
      times.blocked_ns = sum(times.blocked_ns, blocked_ns);
    }
    thread.last.call = call;
    thread.last.flush_ns = 0;
    thread.last.process = row.process;
    thread.last.is_poll = meaning.is_poll;
    thread.last.is_followed = is_followed(row, meaning, run);
    if (meaning.kind == CallClass::probe && row.peer_world >= 0) {
      thread.probed = Probed{call, row.peer_world, row.tag, row.communicator};
      if (meaning.is_poll) thread.probed->call.enter_ns = thread.last.begin_ns;
    }
  }
  matcher.add(row);
  for (const End& end : matcher.ends()) add(end);
  matcher.ends().clear();
}

void WaitStates::State::add(const End& end) {
  Thread& thread = thread_of(end.world, end.rank, end.completed.thread);
  if (end.kind == End::Kind::received) return receive(thread, end);
  if (end.kind == End::Kind::sent || end.kind == End::Kind::progress) {
    eager.learn(end);
    if (end.kind == End::Kind::sent) unexpected.add(end);
    // The call returned only after the other rank came. If it is not eager, it is taken to have waited for that.
    const bool may_wait = end.completed.leave_ns > end.other.enter_ns && end.other.enter_ns > end.completed.enter_ns;
    if (!may_wait || eager.has(end)) return;
    eager.suspect(end);
    return propose(thread, end, end.kind == End::Kind::sent ? WaitKind::late_receiver : kind_of(end), end.completed,
                   false);
  }
  // A rank that leaves before the last one comes did not wait for it.
  if (end.role == CallRole::may_wait && end.completed.leave_ns < end.other.enter_ns) return;
  Thread& other = thread_of(end.world, end.other_rank, end.other.thread);
  if (&other != &thread) propose(thread, end, kind_of(end), end.completed, true);
  // In a collective with a root, and in a scan, a rank meets the one that it has to wait for, as with a message.
  const bool is_of_two = end.role != CallRole::to_all && end.role != CallRole::may_wait;
  if (end.kind != End::Kind::collective || is_of_two) synchronise(thread, other, end);
  if (end.role == CallRole::to_all) thread.synchronised.add_collective(end.communicator, end.completed.number);
}

void WaitStates::State::receive(Thread& thread, const End& end) {
  if (end.completed.leave_ns < end.other.enter_ns) violate(end);
  Thread& other = thread_of(end.world, end.other_rank, end.other.thread);
  const auto probed = std::exchange(thread.probed, std::nullopt);
  const bool is_matched = meaning_of(end.posted.function).kind == CallClass::probe;
  const bool is_probed =
      probed && probed->source == end.other_rank && probed->tag == end.tag && probed->communicator == end.communicator;
  if (is_matched || is_probed) {
    const PartCall& call = is_matched ? end.posted : probed->call;
    WaitState wait{WaitKind::late_sender, end.world, end.rank, end.communicator, call, 0, end.other_rank, end.other};
    wait.wait_ns = overlap_ns(call, call.enter_ns, end.other.enter_ns);
    if (wait.wait_ns > 0) emit(thread, wait, call.enter_ns);
  } else {
    if (probed) thread.probed = probed;  // the probe was for another message
    propose(thread, end, WaitKind::late_sender, end.completed, true);
  }
  compare_order(thread, end);
  synchronise(thread, other, end);
}

void WaitStates::State::synchronise(Thread& thread, Thread& other, const End& end) {
  thread.synchronised.add_message(other.index, {end.completed.number, end.other.number});
  other.synchronised.add_message(thread.index, {end.other.number, end.completed.number});
}

// A message that was there while the thread waited for another. If it had been received first, the time in which the
// thread then worked would have passed during the wait.
void WaitStates::State::compare_order(Thread& thread, const End& end) {
  Received& before = thread.received;
  if (before.source < 0 || before.source == end.other_rank || end.posted.number <= before.number) return;
  const std::int64_t there_ns = difference(before.end_ns, std::max(before.begin_ns, end.other.enter_ns));
  const std::int64_t worked_ns = difference(end.posted.enter_ns, before.end_ns);
  const std::int64_t wrong_ns = std::min(there_ns, worked_ns);
  if (wrong_ns <= before.wrong_ns) return;
  WrongOrder& of = wrong_order[{end.world, end.rank, before.function, before.site}];
  of = {end.world,
        end.rank,
        before.function,
        before.site,
        of.waits + (before.wrong_ns == 0 ? 1 : 0),
        sum(of.time_ns, difference(wrong_ns, before.wrong_ns))};
  before.wrong_ns = wrong_ns;
}

// Considers a wait of a call. If there are several, the longest counts, because the call ends when the last rank comes
// for which it waits.
void WaitStates::State::propose(Thread& thread, const End& end, WaitKind kind, const PartCall& call, bool is_received) {
  Pending& last = thread.last;
  if (call.number != last.call.number) return;  // the clocks disagree: the call had ended before
  const std::int64_t wait_ns = overlap_ns(call, last.begin_ns, end.other.enter_ns);
  if (wait_ns <= 0) return;
  if (last.wait) {
    const auto known = static_cast<double>(last.wait->wait_ns), own = static_cast<double>(wait_ns);
    const bool is_clear = last.is_received == is_received ? own > known
                          : is_received                   ? own * clearly > known
                                                          : own > known * clearly;
    if (!is_clear) return;
  }
  last.wait = WaitState{kind, end.world, end.rank, end.communicator, call, wait_ns, end.other_rank, end.other};
  last.is_received = is_received;
}

void WaitStates::State::finish(Thread& thread) {
  const PartCall& call = thread.last.call;
  std::int64_t own_ns = call.enter_ns == INT64_MIN ? 0 : difference(call.leave_ns, call.enter_ns);
  const bool is_explained = thread.last.wait.has_value() || thread.last.is_followed;
  if (thread.last.wait) {
    WaitState wait = *std::exchange(thread.last.wait, std::nullopt);
    wait.call.enter_ns = thread.last.begin_ns;
    own_ns = difference(call.leave_ns, sum(wait.call.enter_ns, wait.wait_ns));
    emit(thread, std::move(wait), thread.last.begin_ns);
  }
  // Who has a processor leaves the call when there is nothing to wait for any more.
  if (!is_explained || own_ns < ScheduledTimes::interval_ns / 10 || meaning_of(call.function).bounds_net_time()) return;
  const OffTimes off = scheduled.in_call(thread.last.process, call.thread, call.enter_ns, call.leave_ns);
  const std::int64_t descheduled_ns = std::min(off.descheduled_ns, own_ns);
  SiteTimes& times = times_at(thread, call.site);
  times.descheduled_in_calls_ns = sum(times.descheduled_in_calls_ns, descheduled_ns);
  Segment& segment = thread.history.back();
  segment.descheduled_in_call_ns = sum(segment.descheduled_in_call_ns, descheduled_ns);
}

void WaitStates::State::emit(Thread& thread, WaitState wait, std::int64_t begin_ns) {
  Thread& cause = thread_of(wait.world, wait.cause_rank, wait.cause.thread);
  const Synchronisation now{wait.call.number, wait.cause.number};
  const auto met = thread.synchronised.last(cause.index, cause.synchronised, now);
  // If the call consists of polls, the comparison ends at the first of them.
  const std::size_t at = thread.history.find(wait.call.number);
  const bool is_found = at < thread.history.size() && thread.history[at].number == wait.call.number;
  Segment* segment = is_found ? &thread.history[at] : at > 0 ? &thread.history[at - 1] : nullptr;
  const std::uint64_t to = segment == nullptr ? wait.call.number : segment->number;
  std::optional<std::uint64_t> own, other;
  if (met) {
    own = met->own;
    other = met->other;
  }
  delays.charge(wait, {thread.history, own, to}, {cause.history, other, wait.cause.number});
  if (segment != nullptr) {
    segment->wait_ns = std::min(wait.wait_ns, segment->call_ns);
    segment->roots = wait.roots;
  }
  const std::int64_t end_ns = sum(begin_ns, wait.wait_ns);
  traced[thread.index].handovers.push_back({end_ns, wait.cause.enter_ns, cause.index});
  if (wait.kind == WaitKind::late_sender)
    thread.received = {wait.cause_rank, wait.call.function, wait.call.site, wait.call.number, begin_ns, end_ns, 0};
  found.push_back(std::move(wait));
}

// MPI_Finalize is a collective operation of a world: who enters it first waits for who enters it last.
void WaitStates::State::finish() {
  std::map<std::int32_t, std::uint32_t> last;  // by world: index of a thread
  const auto has_finalized = [](const Thread& thread) { return meaning_of(thread.last.call.function).ends_world; };
  for (const auto& thread : threads) {
    if (!has_finalized(*thread)) continue;
    const auto [at, is_new] = last.try_emplace(traced[thread->index].world, thread->index);
    if (!is_new && thread->last.call.enter_ns > threads[at->second]->last.call.enter_ns) at->second = thread->index;
  }
  for (const auto& thread : threads) {
    const TracedThread& of = traced[thread->index];
    if (has_finalized(*thread) && last[of.world] != thread->index) {
      End end;
      end.kind = End::Kind::collective;
      end.world = of.world;
      end.rank = of.rank;
      end.other_rank = traced[last[of.world]].rank;
      end.posted = end.completed = thread->last.call;
      end.other = threads[last[of.world]]->last.call;
      propose(*thread, end, WaitKind::wait_at_barrier, end.completed, true);
    }
    finish(*thread);
  }
}

void WaitStates::State::violate(const End& end) {
  const auto [at, is_new] = violated.try_emplace({end.world, end.other_rank, end.rank}, violations.size());
  if (is_new) violations.push_back({end.world, end.other_rank, end.rank});
  ClockViolation& of = violations[at->second];
  ++of.messages;
  of.most_ns = std::max(of.most_ns, difference(end.other.enter_ns, end.completed.leave_ns));
}

WaitStates::WaitStates(std::unique_ptr<State> state) : state_(std::move(state)) {}
WaitStates::WaitStates(WaitStates&&) noexcept = default;
WaitStates::~WaitStates() = default;

Result<WaitStates> WaitStates::open(Run& run, EagerSends eager) {
  auto events = EventStream::open(run, {.lists_all_requests = true});
  if (!events) return events.failure();
  return WaitStates(std::make_unique<State>(run, std::move(*events), std::move(eager)));
}

std::vector<WaitState> WaitStates::next() {
  State& state = *state_;
  state.found.clear();
  while (state.found.empty() && !state.is_finished) {
    const auto rows = state.events.next();
    for (const EventRow& row : rows) state.add(row);
    if (!rows.empty()) continue;
    state.is_finished = true;
    state.finish();
  }
  return std::move(state.found);
}

std::vector<std::string> WaitStates::warnings() const {
  std::vector<std::string> all = state_->events.warnings();
  for (std::string& line : state_->matcher.warnings()) all.push_back(std::move(line));
  return all;
}

std::vector<WrongOrder> WaitStates::wrong_order() const {
  std::vector<WrongOrder> all;
  for (const auto& [key, of] : state_->wrong_order) all.push_back(of);
  std::stable_sort(all.begin(), all.end(),
                   [](const WrongOrder& a, const WrongOrder& b) { return a.time_ns > b.time_ns; });
  return all;
}

std::uint16_t WaitStates::function_at(std::int32_t site) const {
  const auto at = static_cast<std::size_t>(site) + 1;
  return at < state_->functions.size() ? state_->functions[at] : 0;
}

std::vector<UnexpectedSum> WaitStates::unexpected() const { return state_->unexpected.sums(); }
const EagerSends& WaitStates::eager() const { return state_->eager; }
const std::vector<ClockViolation>& WaitStates::violations() const { return state_->violations; }
const std::vector<TracedThread>& WaitStates::threads() const { return state_->traced; }

}  // namespace tare::reader
