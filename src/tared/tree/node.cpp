#include "tared/tree/node.h"

#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <limits>

#include "tared/filters/clock.h"
#include "tared/filters/filter.h"
#include "tared/tree/packet_socket.h"
#include "tared/tree/rendezvous.h"

namespace tare::tared {

namespace {
constexpr std::uint64_t max_gaps = 1024;  // rounds without any rank that are reported one by one
}

Node::Node(NodeOptions options, std::unique_ptr<Filter> filter, RunKey key, SnapshotSource& source, RoundSink* sink)
    : options_(std::move(options)),
      key_(std::move(key)),
      source_(source),
      sink_(sink),
      context_(1),
      gate_(context_, key_),
      downlink_(context_, options_, key_),
      uplink_(context_, options_, key_),
      table_(*filter, options_.limits),
      wakeup_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
      interval_ns_(options_.interval_ns) {
  filters_[0] = {options_.filter, std::move(filter)};
}

Node::~Node() = default;

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

void Node::wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(wakeup_.fd(), &one, sizeof one);
}

void Node::end() {
  end_asked_.store(true, std::memory_order_release);
  wake();
}

void Node::post(const Packet& packet) {
  Bytes bytes;
  encode(packet, bytes);
  const std::lock_guard lock(posted_mutex_);
  posted_.push_back(std::move(bytes));
  wake();
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
  while (turn(std::numeric_limits<std::int64_t>::max())) {
  }
}

bool Node::turn(std::int64_t longest_wait_ns) {
  if (!step()) {
    leave();
    return false;
  }
  wait(longest_wait_ns);
  return true;
}

// Stores what could not be sent up, if possible, and rounds for which children have sent nothing.
void Node::leave() {
  if (table_.under_way() > 0) {
    if (!is_root()) uplink_.give_up();
    note_top();
    table_.leave_all();
    take_rounds();
  } else if (!is_root()) {
    uplink_.send(Bye{});
    uplink_.flush_on_close(1000);
  }
}

// One iteration over all connections. False when the node has ended.
bool Node::step() {
  now_ns_ = monotonic_ns();
  gate_.answer();
  run_posted();
  downlink_.receive(now_ns_, [this](std::uint32_t child, const Packet& packet) { from_child(child, packet); });
  downlink_.remove_silent(now_ns_, [this](std::uint32_t child) {
    ++counts_.children_lost;
    table_.lose_child(RoundTable::node_child(child));
  });
  if (!is_root()) {
    uplink_.keep(now_ns_);
    uplink_.receive(now_ns_, [this](const Packet& packet) { from_parent(packet); });
  }
  note_top();
  form();
  const bool had_snapshots = is_formed() && poll_source();
  introduce();
  if (is_formed()) take_rounds();
  counts_.max_under_way = std::max<std::uint64_t>(counts_.max_under_way, table_.under_way());
  if (end_asked_.load(std::memory_order_acquire) && ending_ns_ == 0) begin_end();
  if (retires_ && ending_ns_ == 0 && downlink_.children() == 0) begin_end();
  return ending_ns_ == 0 || had_snapshots || !is_drained();
}

void Node::form() {
  if (began_ns_ == 0) began_ns_ = now_ns_;
  if (!is_formed() && awaits_world()) update_ranks();
  // All ranks of a program are gone. Another program may start, and is waited for.
  const bool is_over =
      awaits_world() && is_top() && table_.ranks().empty() && table_.under_way() == 0 && table_.counts().done > 0;
  if (is_formed() && is_over && ending_ns_ == 0) {
    formed_.store(false, std::memory_order_release);
    table_.reset_absent();
    first_rank_ns_ = 0;
    world_ = 0;
  }
  if (!is_formed() && is_complete()) begin(table_.next_round());
}

bool Node::is_complete() {
  if (!awaits_world())
    return downlink_.children() >= options_.planned_children || now_ns_ - began_ns_ > options_.form_patience_ns;
  if (!is_top() || table_.ranks().empty()) return false;  // otherwise its parent decides
  if (first_rank_ns_ == 0) first_rank_ns_ = now_ns_;
  world_ = std::max(world_, source_.world());
  return (world_ > 0 && table_.ranks().size() >= world_) || now_ns_ - first_rank_ns_ > options_.world_patience_ns;
}

void Node::begin(std::uint64_t first_round) {
  first_round_ = first_round;
  source_.begin_at(first_round);
  formed_.store(true, std::memory_order_release);
  if (awaits_world()) downlink_.send_all(Begin{first_round});
}

// A node that is alone from now on gives its sink what the root's sink had got.
void Node::note_top() {
  const bool became_top = is_top() && !was_top_;
  was_top_ = is_top();
  if (!became_top || sink_ == nullptr) return;
  for (const auto& [key, name] : names_) sink_->name(key, name.text);
}

bool Node::poll_source() {
  is_held_ = false;
  const bool found = source_.poll(*this) > 0;
  if (found) stirred_ns_ = now_ns_;
  if (now_ns_ - looked_ns_ > options_.beat_ns / 2 || (found && awaits_world())) {
    looked_ns_ = now_ns_;
    update_ranks();
  }
  return found;
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

void Node::name(const EventName& name) {
  add_names({{name.key, name.text.substr(0, max_name_bytes), name.unit.substr(0, max_name_bytes)}});
}

void Node::add_names(const std::vector<EventName>& names) {
  for (const EventName& name : names) {
    if (names_.size() >= max_names || !names_.try_emplace(name.key, name).second) continue;
    for (const auto& [round, used] : filters_) used.filter->define(name);
    if (sink_ != nullptr && is_top()) sink_->name(name.key, name.text);
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

// Comes before rounds: the ranks below, and the names of their events.
void Node::introduce() {
  if (is_root() || !uplink_.is_connected() || !(is_formed() || awaits_world())) return;
  world_ = std::max(world_, source_.world());
  const bool is_new = introductions_ != uplink_.introductions();
  introductions_ = uplink_.introductions();
  if (is_new || announced_ != table_.ranks() || announced_world_ != world_) {
    announced_ = table_.ranks();
    announced_world_ = world_;
    uplink_.send(Hello{options_.node, table_.next_round(), announced_, world_, options_.filter});
  }
  if (is_new) {
    new_names_.clear();
    for (const auto& [key, name] : names_) new_names_.push_back(name);
  }
  if (new_names_.empty()) return;
  uplink_.send(Names{std::move(new_names_)});
  new_names_.clear();
}

void Node::take_rounds() {
  const auto deliver_one = [this](const RoundTable::Done& done) { deliver(done); };
  while ((is_top() || uplink_.has_room()) && table_.take(now_ns_, deliver_one)) {
    if (round_ns_ != 0) interval_ns_ += (now_ns_ - round_ns_ - interval_ns_) / 8;
    round_ns_ = now_ns_;
  }
  send_taken(false);
}

void Node::deliver(const RoundTable::Done& done) {
  reduced_.clear();
  if (is_top()) {
    if (sink_ == nullptr) return;
    // If every point is an offload, rounds that no rank has sent are lost. Else only the ranks know it (their
    // accounts).
    for (std::uint64_t gap = std::max(table_.next_round(), done.part.round - std::min(done.part.round, max_gaps));
         gap < done.part.round && !awaits_world() && table_.counts().done > 1; ++gap)
      sink_->lost_round(gap, table_.ranks());
    if (done.result == nullptr) {
      sink_->lost_round(done.part.round, done.part.lost);
      return;
    }
    done.result->conclude();
    Writer out(reduced_);
    done.result->write(out);
    const Round round{
        {done.part.round, done.part.ranks, done.part.lost, done.part.first_offload_ns, done.part.last_offload_ns,
         realtime_ns(), done.part.clock_error_ns, done.part.cost, filter_of(done.part.round), reduced_},
        done.part.dropped};
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

// Not for each round, because an answer costs as much as a small round. At the latest when half of the window is used.
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
    world_ = std::max(world_, hello->world);
    downlink_.send(child, Taken{table_.next_round()});
    if (awaits_world() && is_formed()) downlink_.send(child, Begin{first_round_});
    if (pace_) downlink_.send(child, *pace_);
    for (const auto& [from_round, used] : filters_)
      if (from_round != 0) downlink_.send(child, FilterChange{from_round, used.text});
  } else if (const auto* names = std::get_if<Names>(&packet)) {
    add_names(names->names);
  } else if (const auto* part = std::get_if<Part>(&packet)) {
    table_.add(of, *part, now_ns_);
  } else if (const auto* lost = std::get_if<Lost>(&packet)) {
    table_.lose(of, *lost, now_ns_);
  } else if (std::holds_alternative<Bye>(packet)) {
    table_.leave(of);
    downlink_.remove(child);
  }
}

void Node::from_parent(const Packet& packet) {
  if (std::holds_alternative<End>(packet)) {
    end_asked_.store(true, std::memory_order_release);
  } else if (const auto* told = std::get_if<Begin>(&packet)) {
    if (!is_formed()) begin(told->first_round);
  } else if (std::holds_alternative<Pace>(packet) || std::holds_alternative<Command>(packet) ||
             std::holds_alternative<FilterChange>(packet)) {
    from_above(packet);
  }
}

void Node::from_above(const Packet& packet) {
  stirred_ns_ = now_ns_;
  downlink_.send_all(packet);
  if (const auto* pace = std::get_if<Pace>(&packet)) {
    pace_ = *pace;
    source_.set_pace(*pace);
  }
  if (const auto* command = std::get_if<Command>(&packet)) source_.command(command->bytes);
  // If it cannot be used here, the parent refuses what this node sends, and its ranks are in the loss map.
  std::string error;
  if (const auto* change = std::get_if<FilterChange>(&packet)) use_filter(*change, error);
}

bool Node::use_filter(const FilterChange& change, std::string& error) {
  const auto known = filters_.find(change.from_round);
  if (known != filters_.end() && known->second.text == change.filter) return true;
  if (change.from_round == 0 || known != filters_.end() || filters_.size() >= max_filters) {
    error = "the filter was changed too often";
    return false;
  }
  auto filter = make_filter(change.filter, error);
  if (filter == nullptr) return false;
  for (const auto& [key, name] : names_) filter->define(name);
  table_.change_filter(*filter, change.from_round);
  filters_[change.from_round] = {change.filter, std::move(filter)};
  return true;
}

bool Node::change_filter(const FilterChange& change, std::string& error) {
  if (!use_filter(change, error)) return false;
  downlink_.send_all(change);
  return true;
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

// Whether all that can still come has come and left, or was waited for long enough.
bool Node::is_drained() {
  if (now_ns_ - std::max(ending_ns_, round_ns_) > options_.dead_after_ns) return true;
  if (downlink_.children() > 0 || is_held_) return false;
  for (const auto& run : own_ranks_.runs())
    for (std::uint32_t i = 0; i < run.count; ++i) table_.leave(RoundTable::rank_child(run.first + i));
  own_ranks_.clear();
  take_rounds();
  return table_.under_way() == 0;
}

// Events of sockets wake the node. Ranks make no system call, so their buffers are polled, so often that a round is
// delayed by a small part of the interval. After a time without snapshots, the pause is a small part of that time: a
// node whose ranks have stopped takes no processor from others.
std::int64_t Node::longest_wait_ns() const {
  constexpr std::int64_t shortest_ns = 20'000;
  constexpr std::int64_t longest_ns = 20'000'000;
  constexpr std::int64_t while_ns = 20'000'000;  // in this time, single rounds and commands come
  constexpr std::int64_t part = 16;
  std::int64_t wait_ns = options_.beat_ns / 2;
  if (ending_ns_ != 0) wait_ns = std::min<std::int64_t>(wait_ns, 1'000'000);
  if (!own_ranks_.empty() && source_.wakeup_fd() < 0)
    wait_ns = std::min(
        wait_ns, std::clamp(std::max(interval_ns_, now_ns_ - stirred_ns_ - while_ns) / part, shortest_ns, longest_ns));
  const bool is_joining = (!is_root() && !uplink_.is_connected()) || (awaits_world() && !is_formed());
  if (is_joining) wait_ns = std::min<std::int64_t>(wait_ns, longest_ns);
  if (table_.under_way() > 0) wait_ns = std::min(wait_ns, table_.deadline_ns() - now_ns_);
  return std::max<std::int64_t>(wait_ns, 0);
}

void Node::wait(std::int64_t max_ns) {
  Poller poll;
  poll.add(gate_.socket());
  poll.add(downlink_.socket());
  if (zmq::socket_t* up = uplink_.socket()) poll.add(*up);
  poll.add(wakeup_.fd());
  if (is_formed() && source_.wakeup_fd() >= 0) poll.add(source_.wakeup_fd());
  if (!poll.wait(std::min(max_ns, longest_wait_ns()))) send_taken(true);
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t bytes = read(wakeup_.fd(), &count, sizeof count);
}

}  // namespace tare::tared
