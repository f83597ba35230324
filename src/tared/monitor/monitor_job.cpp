#include "tared/job.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "format/monitor_spec.h"
#include "monitor/cadence.h"
#include "recorder/clock.h"
#include "recorder/node_words.h"
#include "tared/boi/pace_keeper.h"
#include "tared/boi/spot_book.h"
#include "tared/filters/clock.h"
#include "tared/monitor/chosen.h"
#include "tared/monitor/commands.h"
#include "tared/monitor/control_desk.h"
#include "tared/monitor/node_source.h"
#include "tared/monitor/round_file.h"
#include "tared/tree/listen.h"
#include "tared/tree/node.h"
#include "tared/tree/node_options.h"
#include "tared/tree/rendezvous.h"

namespace tare::tared {
namespace {

constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t min_patience_ns = 2 * second;
constexpr std::int64_t longest_turn_ns = second / 10;
// A node that waits for children waits longer than they wait for theirs.
constexpr std::int64_t patience_of_level_ns = second / 2;
constexpr std::size_t levels = 6;
constexpr const char* meeting_place = "/tree";
constexpr std::int64_t notice_ns = 300'000'000;  // time for a decision of a user to reach all ranks

std::uint32_t number_of(const std::string& spec, const std::string& key, std::uint32_t otherwise) {
  const std::string text = value_of(spec, key, "");
  std::uint32_t number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  return fault == std::errc{} && end == text.data() + text.size() ? number : otherwise;
}

// Ranks offload only when they are asked.
bool is_pulled(const format::MonitorSpec& spec) { return spec.every == monitor::Cadence::once; }

// Nothing if there is no directory in which nodes can meet.
std::optional<NodeOptions> options_of(const Job& job, const std::string& text, const format::MonitorSpec& spec,
                                      bool is_first) {
  NodeOptions options;
  options.directory = job.places.run_directory + meeting_place;
  std::string error;
  if (!make_meeting_place(options.directory) || !make_run_key(options.directory, error)) return {};
  const auto number = is_first ? 0U : take_number(options.directory);
  if (!number) return {};
  const TreeShape shape(max_nodes, number_of(text, "fan-out", format::MonitorSpec::default_fan_out));
  options.node = *number;
  options.ancestors = shape.ancestors(*number);
  options.filter = value_of(text, "filter", "statistics");
  // Nodes of this machine need no network, and an address that others can reach is one more to defend.
  const std::string listen = value_of(text, "listen", "");
  options.listen = is_loopback(listen) ? "" : address_to_bind(listen);
  options.limits.acceptance = number_of(text, "acceptance", UINT32_MAX);
  const std::uint64_t every = is_pulled(spec) ? 1 : spec.every;
  const std::uint64_t interval_ns = std::min<std::uint64_t>(spec.interval_ns, 1ULL << 32U) * every;
  options.interval_ns = static_cast<std::int64_t>(interval_ns);
  const std::size_t above = levels - std::min(options.ancestors.size(), levels);
  options.limits.patience_ns =
      std::max(min_patience_ns, 2 * options.interval_ns) + static_cast<std::int64_t>(above) * patience_of_level_ns;
  // If no other machine can connect, there is no one to wait for.
  options.world_patience_ns = options.listen.empty() ? second / 2 : 10 * second;
  options.form_patience_ns = 10 * second;
  return options;
}

// Listens on the requested address. If that fails, on a unix socket, so that at least this machine is monitored; if the
// file system of the run has none, on the loopback address.
std::unique_ptr<Node> open_node(NodeOptions options, SnapshotSource& source, RoundSink& sink) {
  std::string error;
  const std::string requested = options.listen;
  for (const std::string& listen : {requested, std::string(), std::string("127.0.0.1")}) {
    options.listen = listen;
    if (auto node = Node::open(options, source, &sink, error)) return node;
  }
  return nullptr;
}

// Passes rounds to the file, to whoever decides about the next ones, and to the spot book.
class KeptRounds : public RoundSink {
 public:
  KeptRounds(RoundFile& file, PaceKeeper* keeper, RoundRequests* requests, SpotBook& book, PointClock points)
      : file_(file), keeper_(keeper), requests_(requests), book_(book), points_(std::move(points)) {}
  void name(EventKey key, std::string_view text) override {
    file_.name(key, text);
    book_.events(++events_);
    if (keeper_ != nullptr) keeper_->events(events_);
  }
  void round(const Round& round) override {
    file_.round(round);
    book_.round(round);
    points_.add(round.round, round.first_offload_ns);
    last_ = round.round;
    longest_delay_ns_ = std::max(longest_delay_ns_ - longest_delay_ns_ / 8, round.delay_ns());
    if (keeper_ != nullptr) keeper_->add(round);
    if (requests_ != nullptr) requests_->add(round);
  }
  void lost_round(std::uint64_t round, const RankSet& lost) override { file_.lost_round(round, lost); }
  const PointClock& points() const { return points_; }
  std::uint64_t last() const { return last_; }  // round that has arrived
  // A point that no rank has reached when a decision arrives there.
  std::uint64_t point_ahead(std::int64_t now_ns) const {
    return points_.point_after(now_ns + notice_ns + 2 * std::min<std::int64_t>(longest_delay_ns_, second));
  }

 private:
  RoundFile& file_;
  PaceKeeper* keeper_;
  RoundRequests* requests_;
  SpotBook& book_;
  PointClock points_;
  std::uint64_t last_ = 0;
  std::int64_t longest_delay_ns_ = 0;  // of the last rounds
  std::uint32_t events_ = 0;
};

PointClock points_of(const format::MonitorSpec& spec) {
  if (spec.interval_ns == 0) return {};
  return {static_cast<std::int64_t>(spec.interval_ns), static_cast<std::int64_t>(spec.epoch_ns)};
}

// For `--monitor=auto` and `every=auto`, at the root.
std::unique_ptr<PaceKeeper> keeper_of(const std::string& text, const format::MonitorSpec& spec, bool is_first) {
  const std::uint32_t min_ns = number_of(text, "auto", 0);
  if (!is_first || min_ns == 0) return nullptr;
  return std::make_unique<PaceKeeper>(points_of(spec), min_ns);
}

// For `--monitor=pull`, at the root.
std::unique_ptr<RoundRequests> requests_of(const std::string& directory, const format::MonitorSpec& spec,
                                           bool is_first) {
  if (!is_first || !is_pulled(spec) || spec.interval_ns == 0) return nullptr;
  return std::make_unique<RoundRequests>(directory, points_of(spec));
}

// At the root: what ranks learn about the tree (tare_find_sweet_spot).
class SpotReport {
 public:
  SpotReport(Node& node, SpotBook& book, std::string directory)
      : node_(node), book_(book), directory_(std::move(directory)) {}

  // When all ranks are there, the size of the tree is known, and earlier results for such a tree can be used.
  void look() {
    if (!node_.is_formed()) tree_ = {};
    if (!node_.is_formed()) return;
    const TreeSize tree{static_cast<std::uint32_t>(node_.ranks().size()), taken_numbers(directory_) + 1};
    if (tree == tree_ || tree.ranks < tree_.ranks) return;  // not new: ranks end one by one
    tree_ = tree;
    book_.cached(read_known_spots(directory_, tree));
  }
  void found(const SpotBook::Found& found) {
    look();
    book_.found(found);
    if (const auto spot = book_.last_found()) keep_found_spot(directory_, tree_, *spot);
  }
  void tell(std::uint64_t now_ns) {
    if (const auto spots = book_.take_update(now_ns)) node_.command(encode_command(*spots));
  }

 private:
  Node& node_;
  SpotBook& book_;
  std::string directory_;
  TreeSize tree_;
};

// At the root: what users want of the running job (control_desk.h).
class Controls {
 public:
  Controls(Node& node, KeptRounds& rounds, RoundFile& file, const std::string& directory, bool may_pace)
      : node_(node), rounds_(rounds), file_(file), desk_(directory), may_pace_(may_pace) {}

  // To be called while there are ranks, whose points are known.
  void look(std::int64_t now_ns) {
    if (!rounds_.points().is_known() || now_ns - looked_ns_ < look_every_ns) return;
    looked_ns_ = now_ns;
    // One change of the interval is under way at a time (cadence.h).
    while (rounds_.last() >= paced_from_) {
      const auto request = desk_.next();
      if (!request) return;
      from_ = std::max(rounds_.point_ahead(now_ns), from_ + 1);
      std::string error;
      const bool is_done = std::visit([&](const auto& wanted) { return obey(wanted, error); }, request->wanted);
      if (is_done) desk_.accept(*request, from_);
      if (!is_done) desk_.refuse(request->token, error);
    }
  }

 private:
  bool obey(const format::ControlMessage& wanted, std::string& error) {
    if (wanted.rank != format::all_ranks && !node_.ranks().contains(static_cast<std::uint32_t>(wanted.rank))) {
      error = "no rank " + std::to_string(wanted.rank) + " is monitored";
      return false;
    }
    format::ControlMessage message = wanted;
    message.number = ++sent_;
    message.from_point = from_;
    node_.command(encode_command(message));
    return true;
  }

  bool obey(const SetRequest& wanted, std::string& error) {
    if (wanted.every != 0 && !may_pace_) {
      error = "the interval of this run is not for users to set: --monitor=auto, every=auto and pull choose it";
      return false;
    }
    if (!wanted.filter.empty() && !node_.change_filter({from_, wanted.filter}, error)) return false;
    if (wanted.contents) node_.command(encode_command(ChosenFrom{from_, *wanted.contents}));
    if (wanted.every == 0) return true;
    const auto interval_ns = static_cast<std::int64_t>(static_cast<double>(wanted.every) * rounds_.points().point_ns());
    const Pace pace{paced_from_ = from_, interval_ns, wanted.every};
    node_.set_pace(pace);
    file_.pace({.from_round = pace.from_round, .interval_ns = pace.interval_ns});
    return true;
  }

  Node& node_;
  KeptRounds& rounds_;
  RoundFile& file_;
  ControlDesk desk_;
  bool may_pace_;
  std::uint64_t sent_ = 0;
  std::uint64_t from_ = 0;        // the point from which on the last decision holds
  std::uint64_t paced_from_ = 0;  // the same of the last interval
  std::int64_t looked_ns_ = 0;
  static constexpr std::int64_t look_every_ns = 20'000'000;
};

}  // namespace

bool monitor(const Job& job, const char* text, const char* host, bool is_first) {
  format::MonitorSpec spec;
  if (format::parse_monitor_spec(text, spec) != nullptr) return false;
  const auto options = options_of(job, text, spec, is_first);
  if (!options) return false;
  NodeSource source(job.places, spec.interval_ns, ChosenEvents(value_of(text, "only", "")), ChosenSites(text));
  RoundFile file(job.places.run_directory, host);
  const auto keeper = keeper_of(text, spec, is_first);
  SpotBook book;
  const auto requests = requests_of(options->directory, spec, is_first);
  KeptRounds rounds(file, keeper.get(), requests.get(), book, points_of(spec));
  const auto node = open_node(*options, source, rounds);
  if (node == nullptr) return false;
  SpotReport spots(*node, book, options->directory);
  Controls controls(*node, rounds, file, options->directory, keeper == nullptr && !is_pulled(spec));
  std::uint64_t looked = 0;
  std::uint32_t seen = 0;
  bool ends = false;
  do {
    const std::uint64_t now = recorder::read_ns(CLOCK_MONOTONIC);
    const std::uint32_t begun = recorder::node_words->processes.load(std::memory_order_acquire);
    if (begun != seen || now - looked >= look_every_ns) {
      source.look();
      if (!job.starter.is_there() && !source.any_alive()) node->retire();
      if (is_first) spots.look();
      seen = begun;
      looked = now;
    }
    const auto pace = keeper ? keeper->decide(realtime_ns()) : std::nullopt;
    if (pace) {
      node->set_pace(*pace);
      file.pace({pace->from_round, pace->interval_ns, keeper->boi_ns(), keeper->rest().mean});
    }
    const bool may_request = requests != nullptr && node->is_formed();
    if (const auto chosen = may_request ? requests->decide(realtime_ns()) : std::nullopt) node->set_pace(*chosen);
    if (const auto found = keeper ? keeper->take_found() : std::nullopt) spots.found(*found);
    if (is_first) spots.tell(now);
    if (is_first && node->is_formed() && !ends) controls.look(realtime_ns());
    file.write_due(now);
    if (has_to_end != 0 && !ends) {
      ends = true;
      source.look();
      node->end();
    }
  } while (has_to_end < 2 && node->turn(longest_turn_ns));
  return file.write_all();
}

}  // namespace tare::tared
