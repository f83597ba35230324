// A node of the reduction tree. It takes snapshots of its ranks from a source and rounds from the nodes below it, and
// passes one packet for each round up; the root passes it to a sink. A node whose ancestors are all gone gives rounds
// to a sink of its own until one is back.
//
// Nothing is dropped between a rank's buffer and the root. If a link is slower than the ranks, rounds stay in the
// ranks' buffers, and the ranks' policy decides (hold or drop). What a dead or silent node had is lost and counted.
//
// Threading: run() is for one thread, which also calls source and sink. Any thread may call end(), set_pace() and
// command(). Source and sink must outlive the node.
#pragma once

#include <atomic>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <zmq.hpp>

#include "format/descriptor.h"
#include "tared/filters/filter.h"
#include "tared/tree/downlink.h"
#include "tared/tree/node_options.h"
#include "tared/tree/rendezvous.h"
#include "tared/tree/round_table.h"
#include "tared/tree/uplink.h"

namespace tare::tared {

struct NodeCounts {
  RoundCounts rounds;
  std::uint64_t moves = 0;          // changes of the parent
  std::uint64_t children_lost = 0;  // children without a sign of life
  std::uint64_t refused_peers = 0;  // peers without the run's key
  std::uint64_t max_under_way = 0;  // rounds at the same time
};

class Node : private SnapshotTaker {
 public:
  // `sink` is for the root, and for a node that is alone; it may be absent in other nodes. Returns nothing if the node
  // cannot start, with the reason in `error`.
  static std::unique_ptr<Node> open(NodeOptions options, SnapshotSource& source, RoundSink* sink, std::string& error);
  ~Node() override;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  // Returns after end() was called, here or at the root, and everything has been passed on.
  void run();
  // One iteration, which waits for input at most that long. False when the node has ended.
  bool turn(std::int64_t longest_wait_ns);
  // Signal handlers may call it.
  void end();
  // The node has no ranks any more, and ends when no other nodes are below it. Only for the thread that runs it.
  void retire() { retires_ = true; }
  // At the root, for the ranks of the whole tree. At most max_command_bytes.
  void set_pace(const Pace& pace) { post(pace); }
  void command(std::span<const std::byte> bytes) { post(Command{bytes}); }
  // Another filter for rounds from this one on, which no rank has reached. False, with the reason in `error`, if the
  // filter cannot be used. Only for the thread that runs the root.
  bool change_filter(const FilterChange& change, std::string& error);

  // All planned children have come, or were waited for long enough.
  bool is_formed() const { return formed_.load(std::memory_order_acquire); }
  // The ranks below the node, and its own. Only for the thread that runs it.
  const RankSet& ranks() const { return table_.ranks(); }
  NodeCounts counts() const;

 private:
  Node(NodeOptions options, std::unique_ptr<Filter> filter, RunKey key, SnapshotSource& source, RoundSink* sink);

  bool wants(std::uint32_t rank) override;
  void name(const EventName& name) override;
  void snapshot(const Snapshot& snapshot) override;

  bool is_root() const { return options_.ancestors.empty(); }
  bool is_top() const { return is_root() || uplink_.is_alone(); }
  bool awaits_world() const { return options_.world_patience_ns > 0; }
  void wake();
  void post(const Packet& packet);
  bool step();
  void wait(std::int64_t max_ns);
  void leave();
  std::int64_t longest_wait_ns() const;
  void form();
  bool is_complete();
  void begin(std::uint64_t first_round);
  void note_top();
  void update_ranks();
  bool poll_source();
  void take_rounds();
  void deliver(const RoundTable::Done& done);
  void from_child(std::uint32_t child, const Packet& packet);
  void from_parent(const Packet& packet);
  void from_above(const Packet& packet);
  void add_names(const std::vector<EventName>& names);
  void introduce();
  void send_taken(bool all);
  bool use_filter(const FilterChange& change, std::string& error);
  void run_posted();
  void begin_end();
  bool is_drained();

  NodeOptions options_;
  struct UsedFilter {
    std::string text;
    std::unique_ptr<Filter> filter;
  };
  static constexpr std::size_t max_filters = 256;
  const std::string& filter_of(std::uint64_t round) const {
    return std::prev(filters_.upper_bound(round))->second.text;
  }

  std::map<std::uint64_t, UsedFilter> filters_;  // by the first round that each reduces
  RunKey key_;
  SnapshotSource& source_;
  RoundSink* sink_;
  zmq::context_t context_;
  Gate gate_;
  Downlink downlink_;
  Uplink uplink_;
  RoundTable table_;
  format::Descriptor wakeup_;  // an eventfd

  std::atomic<bool> formed_{false};
  std::atomic<bool> end_asked_{false};
  std::mutex posted_mutex_;
  std::vector<Bytes> posted_;  // packets for all below

  std::int64_t now_ns_ = 0;  // CLOCK_MONOTONIC at the present iteration
  std::int64_t began_ns_ = 0;
  std::int64_t looked_ns_ = 0;      // when the source was last asked for its ranks
  std::int64_t first_rank_ns_ = 0;  // when the first rank of the program came; 0: none is there
  std::uint32_t world_ = 0;         // ranks of the program; 0: not known
  std::uint64_t first_round_ = 0;   // of the program
  std::optional<Pace> pace_;        // the last decision
  bool was_top_ = false;
  bool retires_ = false;
  std::int64_t ending_ns_ = 0;    // when it began to end; 0: it has not
  std::int64_t interval_ns_ = 0;  // between the last rounds
  std::int64_t round_ns_ = 0;     // when the last round left
  std::int64_t stirred_ns_ = 0;   // when the source last had something, or got something
  bool is_held_ = false;          // the source has more than there is room for
  RankSet own_ranks_;
  RankSet announced_;
  std::uint32_t announced_world_ = 0;
  std::uint64_t introductions_ = 0;
  std::uint64_t taken_sent_ = 0;
  std::map<EventKey, EventName> names_;
  std::vector<EventName> new_names_;
  Bytes reduced_;
  NodeCounts counts_;
};

}  // namespace tare::tared
