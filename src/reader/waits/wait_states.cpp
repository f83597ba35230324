#include "reader/waits/wait_states.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "format/function_meaning.h"
#include "reader/events/event_stream.h"
#include "reader/matching/matcher.h"
#include "reader/model/by_rank.h"
#include "reader/time_arithmetic.h"
#include "reader/waits/delays.h"

namespace tare::reader {
namespace {

using namespace tare::format;

constexpr std::size_t batch_rows = 4096;
// Limits of the number of calls that are kept in memory: for each thread, and for all threads together.
constexpr std::size_t max_calls = 256, min_calls = 32, all_calls = 1U << 22;
// Polls with at most this time between them are one wait.
constexpr std::int64_t between_polls_ns = 1000;
// If a call both sends and receives, its wait is only attributed to a late receiver if that wait is longer by this
// factor than the wait for its own message.
constexpr double clearly = 1.1;

// The last call of a thread, for which it may not be known yet how long it waited.
struct Pending {
  PartCall call{INT64_MIN, INT64_MIN};
  std::int64_t begin_ns = 0;  // of the first of its polls
  bool is_poll = false;
  std::optional<WaitState> wait;
  bool is_received = false;  // `wait` is for a message or a collective, and not for a receiver
};

// A probe in which a thread waited for a message that it then received.
struct Probed {
  PartCall call;
  std::int32_t source = -1, tag = -1, communicator = -1;
};

struct Thread {
  std::uint32_t index = 0;
  Pending last;
  std::uint64_t calls = 0;
  std::optional<Probed> probed;
  History history;
  Synchronisations synchronised;
};

std::int64_t overlap_ns(const PartCall& call, std::int64_t begin_ns, std::int64_t until_ns) {
  return difference(std::min(until_ns, call.leave_ns), begin_ns);
}

WaitKind kind_of(const End& end) {
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

}  // namespace

struct WaitStates::State {
  State(Run& of, EventStream stream)
      : run(of), events(std::move(stream)), matcher(of, {false, true}), delays(of.sites().size()) {
    std::size_t locations = 0;
    for (const Process& process : of.processes()) locations += process.record.threads + std::size_t{1};
    for (const Process& process : of.processes()) {
      const ProcessRecord& r = process.record;
      if (!can_be_rank(process.world, r.rank)) continue;
      by_rank.at(process.world, r.rank).begin_ns = process.clock.unix_ns(r.init_leave != 0 ? r.init_leave : r.attach);
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

  // A rank.
  struct Place {
    std::vector<std::uint32_t> threads;  // indices
    std::int64_t begin_ns = INT64_MIN;   // of its net time
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
    // The first thread begins after MPI_Init, also if MPI_Init is not in the trace.
    if (is_first) threads.back()->last.call.leave_ns = by_rank.at(world, rank).begin_ns;
    traced.push_back({world, rank, number});
    return *threads.back();
  }

  Run& run;
  EventStream events;
  Matcher matcher;
  Delays delays;
  std::size_t capacity = max_calls;
  ByRank<Place> by_rank;
  std::vector<std::unique_ptr<Thread>> threads;
  std::vector<TracedThread> traced;
  std::map<std::array<std::int32_t, 3>, std::size_t> violated;
  std::vector<ClockViolation> violations;
  std::vector<WaitState> found;
  bool is_finished = false;
};

// When a call begins, it is known what the previous call of the thread waited for, because rows are in the order of
// time.
void WaitStates::State::add(const EventRow& row) {
  if (!can_be_rank(row.world, row.rank)) return;
  if (row.kind == EventKind::call) {
    Thread& thread = thread_of(row.world, row.rank, row.thread);
    finish(thread);
    const FunctionMeaning& meaning = meaning_of(row.function);
    const PartCall call{row.start_ns, sum(row.start_ns, row.duration_ns), thread.calls++, row.thread, row.site,
                        row.function};
    const std::int64_t before_ns = thread.last.call.leave_ns;
    const std::int64_t gap_ns = before_ns == INT64_MIN ? 0 : difference(call.enter_ns, before_ns);
    const bool goes_on =
        meaning.is_poll && thread.last.is_poll && gap_ns <= between_polls_ns && thread.last.call.site == call.site;
    if (goes_on && !thread.history.empty()) {
      Segment& polls = thread.history.back();
      polls.call_ns = difference(call.leave_ns, thread.last.begin_ns);
    } else {
      thread.history.add({call.number, std::max<std::int64_t>(gap_ns, 0), row.duration_ns, 0, row.site}, capacity);
      thread.last.begin_ns = call.enter_ns;
    }
    thread.last.call = call;
    thread.last.is_poll = meaning.is_poll;
    if (meaning.kind == CallClass::probe && !meaning.is_poll && row.peer_world >= 0)
      thread.probed = Probed{call, row.peer_world, row.tag, row.communicator};
  }
  matcher.add(row);
  for (const End& end : matcher.ends()) add(end);
  matcher.ends().clear();
}

void WaitStates::State::add(const End& end) {
  Thread& thread = thread_of(end.world, end.rank, end.completed.thread);
  if (end.kind == End::Kind::received) return receive(thread, end);
  if (end.kind == End::Kind::sent) {
    // The call returned only after the receive was posted. It is taken to have waited for that.
    if (end.completed.leave_ns > end.other.enter_ns && end.other.enter_ns > end.completed.enter_ns)
      propose(thread, end, WaitKind::late_receiver, end.completed, false);
    return;
  }
  if (&thread_of(end.world, end.other_rank, end.other.thread) != &thread)
    propose(thread, end, kind_of(end), end.completed, true);
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
  thread.synchronised.add_message(other.index, {end.completed.number, end.other.number});
  other.synchronised.add_message(thread.index, {end.other.number, end.completed.number});
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
  if (!thread.last.wait) return;
  WaitState wait = *std::exchange(thread.last.wait, std::nullopt);
  wait.call.enter_ns = thread.last.begin_ns;
  emit(thread, wait, thread.last.begin_ns);
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
  delays.charge(wait, {thread.history, met ? met->own + 1 : 0, to},
                {cause.history, met ? met->other + 1 : 0, wait.cause.number});
  if (segment != nullptr) segment->wait_ns = std::min(wait.wait_ns, segment->call_ns);
  traced[thread.index].handovers.push_back({sum(begin_ns, wait.wait_ns), wait.cause.enter_ns, cause.index});
  found.push_back(wait);
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

Result<WaitStates> WaitStates::open(Run& run) {
  EventFilter filter;
  filter.lists_all_requests = true;
  auto events = EventStream::open(run, filter);
  if (!events) return events.failure();
  return WaitStates(std::make_unique<State>(run, std::move(*events)));
}

std::vector<WaitState> WaitStates::next() {
  State& state = *state_;
  state.found.clear();
  while (state.found.empty() && !state.is_finished) {
    const auto rows = state.events.next(batch_rows);
    for (const EventRow& row : rows) state.add(row);
    if (!rows.empty()) continue;
    state.is_finished = true;
    for (const auto& thread : state.threads) state.finish(*thread);
  }
  return std::move(state.found);
}

std::vector<std::string> WaitStates::warnings() const {
  std::vector<std::string> all = state_->events.warnings();
  for (std::string& line : state_->matcher.warnings()) all.push_back(std::move(line));
  return all;
}

std::vector<DelaySum> WaitStates::delays() const { return state_->delays.sums(); }
const std::vector<ClockViolation>& WaitStates::violations() const { return state_->violations; }
const std::vector<TracedThread>& WaitStates::threads() const { return state_->traced; }

}  // namespace tare::reader
