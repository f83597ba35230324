#include "tared/tree/node.h"

#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <limits>

#include "tared/filters/clock.h"
#include "tared/tree/poll.h"
#include "tared/tree/rendezvous.h"

namespace tare::tared {

namespace {
constexpr std::uint64_t most_gaps = 1024;  // rounds without any rank that are told one by one
}

Node::Node(NodeOptions options, std::unique_ptr<Filter> filter, RunKey key, SnapshotSource& source, RoundSink* sink)
    : options_(std::move(options)),
      filter_(std::move(filter)),
      key_(std::move(key)),
      source_(source),
      sink_(sink),
      context_(1),
      gate_(context_, key_),
      downlink_(context_, options_, key_),
      uplink_(context_, options_, key_),
      table_(*filter_, options_.limits),
      wakeup_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}

Node::~Node() { close(wakeup_); }

std::unique_ptr<Node> Node::open(NodeOptions options, SnapshotSource& source, RoundSink* sink, std::string& error) {
  auto filter = make_filter(options.filter, error);
  if (!filter) return nullptr;
  auto key = read_run_key(options.directory, error);
  if (!key) return nullptr;
  const std::string directory = options.directory;
  const std::uint32_t number = options.node;
  try {
    auto node = std::unique_ptr<Node>(new Node(std::move(options), std::move(filter), std::move(*key), source, sink));
    if (publish(directory, number, node->downlink_.address())) return node;
    error = "cannot write the address of node " + std::to_string(number) + " to " + directory;
  } catch (const zmq::error_t& fault) {
    error = std::string("the monitoring tree cannot open its sockets: ") + fault.what();
  }
  return nullptr;
}

void Node::end() {
  end_asked_.store(true, std::memory_order_release);
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(wakeup_, &one, sizeof one);
}

void Node::set_pace(const Pace& pace) {
  Bytes bytes;
  encode(pace, bytes);
  const std::lock_guard lock(posted_mutex_);
  posted_.push_back(std::move(bytes));
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(wakeup_, &one, sizeof one);
}

void Node::command(std::span<const std::byte> command) {
  Bytes bytes;
  encode(Command{command}, bytes);
  const std::lock_guard lock(posted_mutex_);
  posted_.push_back(std::move(bytes));
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(wakeup_, &one, sizeof one);
}

NodeCounts Node::counts() const {
  NodeCounts counts = counts_;
  counts.rounds = table_.counts();
  counts.moves = uplink_.moves();
  counts.refused_peers = gate_.refused();
  return counts;
}

void Node::run() {
  prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL);  // ns; 50 us would be as long as a round
  began_ns_ = monotonic_ns();
  while (step()) {
  }
  if (!is_root()) {
    uplink_.send(Bye{});
    uplink_.flush_on_close(1000);
  }
}

// One round of everything. False when the node has ended.
bool Node::step() {
  now_ns_ = monotonic_ns();
  gate_.answer();
  run_posted();
  downlink_.receive(now_ns_, [this](std::uint32_t child, const Packet& packet) { from_child(child, packet); });
  downlink_.forget_silent(now_ns_, [this](std::uint32_t child) {
    ++counts_.children_lost;
    table_.leave(RoundTable::node_child(child));
  });
  if (!is_root()) {
    uplink_.keep(now_ns_);
    uplink_.receive(now_ns_, [this](const Packet& packet) { from_parent(packet); });
  }
  if (!is_formed()) form();
  const bool had_snapshots = is_formed() && poll_source();
  introduce();
  if (is_formed()) take_rounds();
  counts_.most_under_way = std::max<std::uint64_t>(counts_.most_under_way, table_.under_way());
  if (end_asked_.load(std::memory_order_acquire) && ending_ns_ == 0) begin_end();
  if (ending_ns_ != 0 && !had_snapshots && is_drained()) return false;
  wait();
  return true;
}

void Node::form() {
  const bool is_late = now_ns_ - began_ns_ > options_.form_patience_ns;
  if (downlink_.children() < options_.planned_children && !is_late) return;
  formed_.store(true, std::memory_order_release);
}

bool Node::poll_source() {
  if (now_ns_ - looked_ns_ > options_.beat_ns / 2) {
    looked_ns_ = now_ns_;
    update_ranks();
  }
  is_held_ = false;
  return source_.poll(*this) > 0;
}

void Node::update_ranks() {
  const RankSet ranks = source_.ranks();
  if (ranks == own_ranks_) return;
  RankSet gone = own_ranks_;
  gone.remove(ranks);
  RankSet come = ranks;
  come.remove(own_ranks_);
  for (const auto& run : gone.runs())
    for (std::uint32_t i = 0; i < run.count; ++i) table_.leave(RoundTable::rank_child(run.first + i));
  for (const auto& run : come.runs())
    for (std::uint32_t i = 0; i < run.count; ++i)
      table_.join(RoundTable::rank_child(run.first + i), RankSet::of_range(run.first + i, 1));
  own_ranks_ = ranks;
}

void Node::name(EventKey key, std::string_view text) {
  add_names({{key, std::string(text.substr(0, max_name_bytes))}});
}

void Node::add_names(const std::vector<EventName>& names) {
  for (const EventName& name : names) {
    if (names_.size() >= max_names || !names_.try_emplace(name.key, name.text).second) continue;
    if (sink_ != nullptr) sink_->name(name.key, name.text);
    if (!is_root()) new_names_.push_back(name);
  }
}

bool Node::wants(std::uint32_t rank) {
  if (table_.has_room(rank)) return true;
  is_held_ = true;
  return false;
}

void Node::snapshot(const Snapshot& snapshot) {
  if (!table_.has(RoundTable::rank_child(snapshot.rank))) {
    own_ranks_.insert(snapshot.rank);
    table_.join(RoundTable::rank_child(snapshot.rank), RankSet::of_range(snapshot.rank, 1));
  }
  table_.add(snapshot, now_ns_);
}

// Before rounds: who is below, and the names of their events.
void Node::introduce() {
  if (is_root() || !uplink_.is_connected() || !is_formed()) return;
  const bool is_new = introductions_ != uplink_.introductions();
  introductions_ = uplink_.introductions();
  if (is_new || announced_ != table_.ranks()) {
    announced_ = table_.ranks();
    uplink_.send(Hello{options_.node, table_.next_round(), announced_, options_.filter});
  }
  if (is_new) {
    new_names_.clear();
    for (const auto& [key, text] : names_) new_names_.push_back({key, text});
  }
  if (new_names_.empty()) return;
  uplink_.send(Names{std::move(new_names_)});
  new_names_.clear();
}

void Node::take_rounds() {
  const auto deliver_one = [this](const RoundTable::Done& done) { deliver(done); };
  while ((is_root() || uplink_.has_room()) && table_.take(now_ns_, deliver_one)) {
    if (round_ns_ != 0) interval_ns_ += (now_ns_ - round_ns_ - interval_ns_) / 8;
    round_ns_ = now_ns_;
  }
  send_taken(false);
}

void Node::deliver(const RoundTable::Done& done) {
  reduced_.clear();
  if (is_root()) {
    if (sink_ == nullptr) return;
    for (std::uint64_t gap = std::max(table_.next_round(), done.part.round - std::min(done.part.round, most_gaps));
         gap < done.part.round && table_.counts().done > 1; ++gap)
      sink_->lost_round(gap, table_.ranks());
    if (done.result == nullptr) {
      sink_->lost_round(done.part.round, done.part.lost);
      return;
    }
    Writer out(reduced_);
    done.result->write(out);
    Round round{done.part.round,           done.part.ranks, done.part.lost,           done.part.first_offload_ns,
                done.part.last_offload_ns, realtime_ns(),   done.part.clock_error_ns, done.part.cost,
                options_.filter,           reduced_};
    sink_->round(round);
    return;
  }
  if (done.result == nullptr) {
    uplink_.send(Lost{done.part.round, done.part.lost});
    return;
  }
  const std::int64_t begin_ns = monotonic_ns();
  Writer out(reduced_);
  done.result->write(out);
  Part part = done.part;
  part.reduced = reduced_;
  part.cost.packet_ns += static_cast<std::uint64_t>(monotonic_ns() - begin_ns);
  part.cost.packets += 1;
  uplink_.send(std::move(part));
}

// Not at each round: an answer costs as much as a small round. At the latest when half of what may go up is under way.
void Node::send_taken(bool all) {
  const std::uint64_t next = table_.next_round();
  if (next == taken_sent_ || downlink_.children() == 0) return;
  if (!all && next - taken_sent_ < std::max(options_.limits.window / 2, 1U)) return;
  taken_sent_ = next;
  downlink_.send_all(Taken{next});
}

void Node::from_child(std::uint32_t child, const Packet& packet) {
  const auto of = RoundTable::node_child(child);
  if (const auto* hello = std::get_if<Hello>(&packet)) {
    table_.join(of, hello->ranks, hello->next_round);
    downlink_.send(child, Taken{table_.next_round()});
  } else if (const auto* names = std::get_if<Names>(&packet)) {
    add_names(names->names);
  } else if (const auto* part = std::get_if<Part>(&packet)) {
    table_.add(of, *part, now_ns_);
  } else if (const auto* lost = std::get_if<Lost>(&packet)) {
    table_.lose(of, *lost, now_ns_);
  } else if (std::holds_alternative<Bye>(packet)) {
    table_.leave(of);
    downlink_.forget(child);
  }
}

void Node::from_parent(const Packet& packet) {
  if (std::holds_alternative<End>(packet)) {
    end_asked_.store(true, std::memory_order_release);
  } else if (std::holds_alternative<Pace>(packet) || std::holds_alternative<Command>(packet)) {
    from_above(packet);
  }
}

void Node::from_above(const Packet& packet) {
  downlink_.send_all(packet);
  if (const auto* pace = std::get_if<Pace>(&packet)) source_.set_pace(*pace);
  if (const auto* command = std::get_if<Command>(&packet)) source_.command(command->bytes);
}

void Node::run_posted() {
  std::vector<Bytes> posted;
  {
    const std::lock_guard lock(posted_mutex_);
    posted.swap(posted_);
  }
  Packet packet;
  for (const Bytes& bytes : posted)
    if (decode(bytes, packet)) from_above(packet);
}

void Node::begin_end() {
  ending_ns_ = now_ns_;
  formed_.store(true, std::memory_order_release);
  downlink_.send_all(End{});
}

// Of what is still to come, all is here and has left, or was waited for long enough.
bool Node::is_drained() {
  if (now_ns_ - std::max(ending_ns_, round_ns_) > options_.dead_after_ns) return true;
  if (downlink_.children() > 0 || is_held_) return false;
  for (const auto& run : own_ranks_.runs())
    for (std::uint32_t i = 0; i < run.count; ++i) table_.leave(RoundTable::rank_child(run.first + i));
  own_ranks_.clear();
  take_rounds();
  return table_.under_way() == 0;
}

// Events of sockets wake it up; ranks make no system call, so their buffers are looked at often enough to delay a round
// by a small part of the interval.
std::int64_t Node::longest_wait_ns() const {
  constexpr std::int64_t shortest_ns = 20'000;
  constexpr std::int64_t longest_ns = 10'000'000;
  std::int64_t wait_ns = options_.beat_ns / 2;
  if (ending_ns_ != 0) wait_ns = std::min<std::int64_t>(wait_ns, 1'000'000);
  if (!own_ranks_.empty() && source_.wakeup_fd() < 0)
    wait_ns = std::min(wait_ns, std::clamp(interval_ns_ / 16, shortest_ns, longest_ns));
  if (!is_root() && !uplink_.is_connected()) wait_ns = std::min<std::int64_t>(wait_ns, 2 * longest_ns);
  if (table_.under_way() > 0) wait_ns = std::min(wait_ns, table_.deadline_ns() - now_ns_);
  return std::max<std::int64_t>(wait_ns, 0);
}

void Node::wait() {
  Poll poll;
  poll.add(gate_.socket());
  poll.add(downlink_.socket());
  if (zmq::socket_t* up = uplink_.socket()) poll.add(*up);
  poll.add(wakeup_);
  if (is_formed() && source_.wakeup_fd() >= 0) poll.add(source_.wakeup_fd());
  if (!poll.wait(longest_wait_ns())) send_taken(true);
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t bytes = read(wakeup_, &count, sizeof count);
}

}  // namespace tare::tared
