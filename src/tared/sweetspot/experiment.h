// An experiment: measures a real monitoring tree of processes whose ranks are synthetic.
//
// Node 0 runs in this process; the other nodes are its children. Commands to play rounds travel down the tree, and
// rounds travel up.
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tared/boi/boi_search.h"
#include "tared/boi/pace_keeper.h"
#include "tared/sweetspot/player.h"
#include "tared/sweetspot/stage.h"
#include "tared/tree/node.h"
#include "tared/tree/node_options.h"

namespace tare::tared {

struct ExperimentOptions {
  std::uint32_t ranks = 64;
  std::uint32_t fan_out = 8;
  std::uint32_t nodes = 0;  // all of which have ranks; 0: only leaves have ranks, `fan_out` below each node
  std::uint32_t max_events = 1024;
  std::uint32_t max_rounds = 1000;
  bool through_tcp = false;
  std::uint32_t acceptance = UINT32_MAX;
  std::string filter = "statistics";
};

// The shape of the tree of `options`, and the ranks of each of its nodes.
TreeShape tree_of(const ExperimentOptions& options);
std::vector<RankSet> place_ranks(const ExperimentOptions& options, const TreeShape& shape);

struct ArrivedRound {
  std::uint64_t round;
  std::int64_t first_offload_ns;
  std::int64_t arrived_ns;
  RankSet lost;
  RoundCost cost;
};

struct Outcome {
  std::vector<ArrivedRound> rounds;  // those with a result
  std::uint32_t wanted = 0;          // number of rounds that were played
  std::int64_t played_ns = 0;        // the longest time of a player
  std::int64_t drained_ns = 0;       // from the end of the last player to the last arrival; 0 if that came earlier
  Burst burst(double interval_ns) const;
};

// The result for ranks whose offloads the root controls, as with `--monitor=auto`: the rounds after the interval has
// settled. A decision takes effect after a third of a second, in which rounds may be lost, so earlier rounds are
// separate.
struct ControlledOutcome {
  Outcome outcome;
  Outcome before;                // rounds after the interval was found and before it settled
  std::int64_t settling_ns = 0;  // time until it settled
  std::int64_t interval_ns = 0;  // the interval at the end
  double boi_ns = 0;             // the BOI that the root found
};

class Experiment {
 public:
  // Returns nothing if the tree cannot be formed, with the reason in `error`.
  static std::unique_ptr<Experiment> open(const ExperimentOptions& options, std::string& error);
  ~Experiment();
  Experiment(const Experiment&) = delete;
  Experiment& operator=(const Experiment&) = delete;

  // Returns nothing if rounds that no rank has dropped are missing for `patience_ns`.
  std::optional<Outcome> play(Play play);
  // Ranks reach a point every `point_ns`, and drop snapshots for which there is no room. The root decides which points
  // are offloads. Ends when `rounds` rounds have arrived since the interval settled (PaceKeeper::is_settled). Returns
  // nothing if that takes more than two minutes.
  std::optional<ControlledOutcome> play_controlled(std::uint32_t events, std::uint32_t rounds, std::int64_t point_ns);
  // Measures one-way delays in ns by stop-and-go: each round begins after the one before has arrived. Returns nothing
  // if a round does not arrive.
  std::optional<std::vector<double>> rest(std::uint32_t events, std::uint32_t rounds);
  std::optional<BoiSearch> search(std::uint32_t events, const Spread& rest, double low_ns,
                                  const SearchSettings& settings);
  std::optional<Confirmation> confirm(std::uint32_t events, double boi_ns);

  Stage& stage() { return stage_; }
  const TreeShape& shape() const { return shape_; }
  const std::vector<pid_t>& processes() const { return processes_; }
  std::int64_t formed_ns() const { return formed_ns_; }
  NodeCounts counts() const { return root_->counts(); }
  // False if a process failed.
  bool end();

 private:
  class Sink : public RoundSink {
   public:
    void name(EventKey /*key*/, std::string_view /*text*/) override {}
    void round(const Round& round) override;
    void lost_round(std::uint64_t round, const RankSet& lost) override;
    void begin();
    // Waits until `round` has arrived (true), or until nothing has arrived for `patience_ns` (false).
    bool wait_for(std::uint64_t round, std::int64_t patience_ns);
    std::vector<ArrivedRound> take();
    // Passes rounds to `keeper` from now on; nullptr: to none.
    void tell(PaceKeeper* keeper);
    std::optional<Pace> decide();  // PaceKeeper::decide()
    // The number of the next round, if the interval has settled.
    std::optional<std::uint64_t> settled_from();
    std::size_t count_from(std::uint64_t round);

   private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<ArrivedRound> arrived_;
    PaceKeeper* keeper_ = nullptr;
    std::uint64_t next_ = 0;  // after the last round seen
    std::uint64_t seen_ = 0;
  };

  Experiment(const ExperimentOptions& options, const TreeShape& shape);
  bool start(std::string& error);
  NodeOptions options_of(std::uint32_t node) const;
  int run_process(std::uint32_t node);
  std::uint32_t player_of(std::uint32_t node) const;
  struct Control {
    std::uint64_t kept_from;  // rounds
    std::uint64_t settled_from;
    std::int64_t settling_ns;
  };
  std::optional<Control> control(PaceKeeper& keeper, std::uint32_t rounds);

  ExperimentOptions options_;
  TreeShape shape_;
  std::vector<RankSet> places_;  // of each node
  std::string directory_;
  Stage stage_;
  std::vector<pid_t> processes_;
  Sink sink_;
  std::unique_ptr<Player> player_;
  std::unique_ptr<Node> root_;
  std::thread thread_;
  std::uint64_t next_round_ = 0;
  std::int64_t formed_ns_ = 0;
};

}  // namespace tare::tared
