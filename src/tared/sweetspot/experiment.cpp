#include "tared/sweetspot/experiment.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "tared/filters/clock.h"

namespace tare::tared {

namespace {

constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t patience_ns = 30 * second;
constexpr std::int64_t head_start_ns = 2'000'000;        // time for a command to reach all nodes before the first round
constexpr std::int64_t first_interval_ns = second / 10;  // of controlled offloads
constexpr std::int64_t longest_control_ns = 120 * second;
constexpr std::int64_t end_notice_ns = second / 10;  // longer than a player is ahead of the clock
constexpr std::uint32_t crowd = 64;                  // from this number of processes on, signs of life take longer

StageShape stage_of(const ExperimentOptions& options, const std::vector<RankSet>& places) {
  const auto players = std::ranges::count_if(places, [](const RankSet& ranks) { return !ranks.empty(); });
  return {options.ranks, options.max_events, 8, options.max_rounds, static_cast<std::uint32_t>(players)};
}

}  // namespace

TreeShape tree_of(const ExperimentOptions& options) {
  if (options.nodes > 0) return {options.nodes, options.fan_out};
  const std::uint32_t fan_out = std::max(options.fan_out, 2U);
  std::uint32_t nodes = 0;
  for (std::uint32_t level = std::max((options.ranks + fan_out - 1) / fan_out, 1U);;
       level = (level + fan_out - 1) / fan_out) {
    nodes += level;
    if (level == 1) break;
  }
  return {nodes, fan_out};
}

std::vector<RankSet> place_ranks(const ExperimentOptions& options, const TreeShape& shape) {
  std::vector<std::uint32_t> with_ranks;
  for (std::uint32_t node = 0; node < shape.nodes(); ++node)
    if (options.nodes > 0 || shape.is_leaf(node)) with_ranks.push_back(node);
  std::vector<RankSet> places(shape.nodes());
  const auto before = [&](std::uint64_t i) {
    return static_cast<std::uint32_t>(i * options.ranks / with_ranks.size());
  };
  for (std::size_t i = 0; i < with_ranks.size(); ++i)
    places[with_ranks[i]] = RankSet::of_range(before(i), before(i + 1) - before(i));
  return places;
}

Burst Outcome::burst(double interval_ns) const {
  Burst burst{interval_ns, {}, {}};
  for (const ArrivedRound& round : rounds) {
    burst.delays_ns.push_back(static_cast<double>(round.arrived_ns - round.first_offload_ns));
    burst.arrivals_ns.push_back(static_cast<double>(round.arrived_ns - rounds.front().arrived_ns));
  }
  return burst;
}

void Experiment::Sink::round(const Round& round) {
  const std::lock_guard lock(mutex_);
  arrived_.push_back({round.round, round.first_offload_ns, round.arrived_ns, round.lost, round.cost});
  if (keeper_ != nullptr) keeper_->add(round);
  next_ = round.round + 1;
  ++seen_;
  changed_.notify_all();
}

void Experiment::Sink::lost_round(std::uint64_t round, const RankSet& /*lost*/) {
  const std::lock_guard lock(mutex_);
  next_ = round + 1;
  ++seen_;
  changed_.notify_all();
}

void Experiment::Sink::begin() {
  const std::lock_guard lock(mutex_);
  arrived_.clear();
}

bool Experiment::Sink::wait_for(std::uint64_t round, std::int64_t patience) {
  std::unique_lock lock(mutex_);
  while (next_ <= round) {
    const std::uint64_t seen = seen_;
    if (!changed_.wait_for(lock, std::chrono::nanoseconds(patience), [&] { return seen_ != seen; })) return false;
  }
  return true;
}

std::vector<ArrivedRound> Experiment::Sink::take() {
  const std::lock_guard lock(mutex_);
  return std::move(arrived_);
}

void Experiment::Sink::tell(PaceKeeper* keeper) {
  const std::lock_guard lock(mutex_);
  keeper_ = keeper;
}

std::optional<Pace> Experiment::Sink::decide() {
  const std::lock_guard lock(mutex_);
  return keeper_ != nullptr ? keeper_->decide(realtime_ns()) : std::nullopt;
}

std::optional<std::uint64_t> Experiment::Sink::settled_from() {
  const std::lock_guard lock(mutex_);
  if (keeper_ == nullptr || !keeper_->is_settled()) return {};
  return next_;
}

std::size_t Experiment::Sink::count_from(std::uint64_t round) {
  const std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(
      std::ranges::count_if(arrived_, [round](const ArrivedRound& arrived) { return arrived.round >= round; }));
}

Experiment::Experiment(const ExperimentOptions& options, const TreeShape& shape)
    : options_(options), shape_(shape), places_(place_ranks(options, shape)), stage_(stage_of(options, places_)) {}

std::unique_ptr<Experiment> Experiment::open(const ExperimentOptions& options, std::string& error) {
  auto experiment = std::unique_ptr<Experiment>(new Experiment(options, tree_of(options)));
  if (!experiment->start(error)) return nullptr;
  return experiment;
}

NodeOptions Experiment::options_of(std::uint32_t node) const {
  NodeOptions options;
  options.node = node;
  options.ancestors = shape_.ancestors(node);
  options.planned_children = shape_.children(node);
  options.directory = directory_;
  options.filter = options_.filter;
  if (options_.through_tcp) options.listen = "127.0.0.1";
  options.limits.acceptance = options_.acceptance;
  if (shape_.nodes() > crowd) {
    options.beat_ns = 2 * second;
    options.dead_after_ns = options.form_patience_ns = 120 * second;
  }
  return options;
}

std::uint32_t Experiment::player_of(std::uint32_t node) const {
  return static_cast<std::uint32_t>(
      std::count_if(places_.begin(), places_.begin() + node, [](const RankSet& ranks) { return !ranks.empty(); }));
}

int Experiment::run_process(std::uint32_t node) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // ends the child if the experiment is killed
  const RankSet& ranks = places_[node];
  Player player(stage_, player_of(node), ranks.empty() ? 0 : ranks.runs().front().first,
                static_cast<std::uint32_t>(ranks.size()));
  std::string error;
  const auto process = Node::open(options_of(node), player, nullptr, error);
  if (!process) return 1;
  process->run();
  return 0;
}

bool Experiment::start(std::string& error) {
  directory_ = std::filesystem::temp_directory_path() / "tare-sweetspot-XXXXXX";
  if (mkdtemp(directory_.data()) == nullptr) {
    error = "cannot make a directory in " + std::filesystem::temp_directory_path().string();
    return false;
  }
  if (!make_run_key(directory_, error)) return false;
  const std::int64_t began_ns = monotonic_ns();
  for (std::uint32_t node = 1; node < shape_.nodes(); ++node) {
    const pid_t process = fork();
    if (process == 0) _exit(run_process(node));
    if (process < 0) {
      error = "cannot start " + std::to_string(shape_.nodes()) + " processes";
      return false;
    }
    processes_.push_back(process);
  }
  player_ = std::make_unique<Player>(stage_, 0, 0, static_cast<std::uint32_t>(places_[0].size()));
  root_ = Node::open(options_of(0), *player_, &sink_, error);
  if (!root_) return false;
  thread_ = std::thread([this] { root_->run(); });
  // One round of all ranks shows that the tree is complete.
  while (!root_->is_formed()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  Play proof;
  proof.rounds = 1;
  proof.events = std::min(options_.max_events, 1U);
  const auto outcome = play(proof);
  formed_ns_ = monotonic_ns() - began_ns;
  if (outcome && outcome->rounds.size() == 1 && outcome->rounds.front().lost.empty()) return true;
  error = "the tree of " + std::to_string(shape_.nodes()) + " processes brought no whole round";
  return false;
}

Experiment::~Experiment() {
  end();
  if (!directory_.empty()) std::filesystem::remove_all(directory_);
}

bool Experiment::end() {
  if (thread_.joinable()) {
    root_->end();
    thread_.join();
  } else {
    for (const pid_t process : processes_) kill(process, SIGKILL);
  }
  bool is_clean = true;
  for (const pid_t process : processes_) {
    int status = 0;
    is_clean &= waitpid(process, &status, 0) == process && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  processes_.clear();
  return is_clean;
}

std::optional<Outcome> Experiment::play(Play play) {
  play.first_round = next_round_;
  const bool has_last = play.policy == Policy::lossy;  // one more round, which is not counted
  if (play.offloads != 0) next_round_ += play.rounds + (has_last ? 1 : 0);
  stage_.reset(play.rounds);
  sink_.begin();
  play.start_ns = realtime_ns() + (shape_.nodes() > 1 ? head_start_ns : head_start_ns / 10);
  root_->command(std::as_bytes(std::span(&play, 1)));
  Outcome outcome;
  outcome.wanted = play.rounds;
  std::int64_t ended_ns = 0;
  for (std::uint32_t player = 0; player < stage_.shape().players; ++player) {
    const std::int64_t until_ns = monotonic_ns() + patience_ns + 4 * play.rounds * play.interval_ns;
    while (stage_.played_ns(player).load(std::memory_order_acquire) == 0) {
      if (monotonic_ns() > until_ns) return {};
      // The last round shows the end of such plays, see below.
      if (play.offloads != 0 && play.policy != Policy::lossy && play.in_step == 0) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    outcome.played_ns = std::max<std::int64_t>(outcome.played_ns, stage_.played_ns(player));
    ended_ns = std::max(ended_ns, realtime_ns());
  }
  if (play.offloads == 0) return outcome;
  if (!sink_.wait_for(play.first_round + play.rounds - (has_last ? 0 : 1), patience_ns)) return {};
  outcome.rounds = sink_.take();
  if (has_last && !outcome.rounds.empty()) outcome.rounds.pop_back();
  if (!outcome.rounds.empty() && play.in_step != 0)
    outcome.drained_ns = std::max<std::int64_t>(outcome.rounds.back().arrived_ns - ended_ns, 0);
  return outcome;
}

// Waits until `rounds` rounds have arrived since the interval of the keeper settled.
std::optional<Experiment::Control> Experiment::control(PaceKeeper& keeper, std::uint32_t rounds) {
  std::optional<std::uint64_t> kept_from;
  std::optional<std::uint64_t> settled_from;
  std::int64_t kept_ns = 0;
  std::int64_t settled_ns = 0;
  for (const std::int64_t until_ns = monotonic_ns() + longest_control_ns; monotonic_ns() < until_ns;) {
    if (const auto pace = sink_.decide()) {
      root_->set_pace(*pace);
      if (!kept_from && keeper.state() == PaceKeeper::State::keeps) {
        kept_from = pace->from_round;
        kept_ns = monotonic_ns();
      }
    }
    if (kept_from && !settled_from) {
      settled_from = sink_.settled_from();
      settled_ns = monotonic_ns();
    }
    if (settled_from && sink_.count_from(*settled_from) >= rounds)
      return Control{*kept_from, *settled_from, settled_ns - kept_ns};
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return {};
}

std::optional<ControlledOutcome> Experiment::play_controlled(std::uint32_t events, std::uint32_t rounds,
                                                             std::int64_t point_ns) {
  Play play;
  play.first_round = next_round_;
  play.events = events;
  play.interval_ns = point_ns;
  play.policy = Policy::lossy;
  play.every = static_cast<std::uint32_t>(std::max<std::int64_t>(first_interval_ns / point_ns, 1));
  stage_.reset(0);
  stage_.last_point() = UINT64_MAX;
  sink_.begin();
  play.start_ns = realtime_ns() + head_start_ns;
  const auto first_ns = static_cast<std::int64_t>(play.first_round) * point_ns;
  PaceKeeper keeper(PointClock(point_ns, play.start_ns - first_ns), point_ns);
  sink_.tell(&keeper);
  root_->command(std::as_bytes(std::span(&play, 1)));
  const auto controlled = control(keeper, rounds);
  sink_.tell(nullptr);
  // All ranks end at the same point, which none has reached.
  const std::int64_t left_ns = realtime_ns() + end_notice_ns - play.start_ns;
  const std::uint64_t last = play.first_round + static_cast<std::uint64_t>(left_ns / point_ns);
  stage_.last_point().store(last, std::memory_order_release);
  next_round_ = last + 2;
  if (!sink_.wait_for(last + 1, patience_ns)) return {};
  for (std::uint32_t player = 0; player < stage_.shape().players; ++player)
    while (stage_.played_ns(player).load(std::memory_order_acquire) == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  if (!controlled) return {};
  ControlledOutcome found;
  found.outcome.wanted = rounds;
  for (ArrivedRound& round : sink_.take()) {
    if (round.round < controlled->kept_from || round.round > last) continue;
    Outcome& part = round.round < controlled->settled_from ? found.before : found.outcome;
    part.rounds.push_back(std::move(round));
  }
  found.settling_ns = controlled->settling_ns;
  found.interval_ns = keeper.interval_ns();
  found.boi_ns = keeper.boi_ns();
  return found;
}

std::optional<std::vector<double>> Experiment::rest(std::uint32_t events, std::uint32_t rounds) {
  std::vector<double> delays;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    Play one;
    one.rounds = 1;
    one.events = events;
    const auto outcome = play(one);
    if (!outcome || outcome->rounds.empty()) return {};
    delays.push_back(outcome->burst(0).delays_ns.front());
  }
  return delays;
}

std::optional<BoiSearch> Experiment::search(std::uint32_t events, const Spread& rest, double low_ns,
                                            const SearchSettings& settings) {
  BoiSearch search(rest, low_ns, settings);
  while (!search.is_done()) {
    Play burst;
    burst.rounds = settings.rounds;
    burst.events = events;
    burst.interval_ns = static_cast<std::int64_t>(search.interval_ns());
    // If another program uses the processors, it looks like a queue. A real queue appears again at the next try.
    const std::uint32_t tries = settings.rule == Rule::guarded ? 3 : 1;
    Burst measured;
    for (std::uint32_t i = 0; i < tries; ++i) {
      const auto outcome = play(burst);
      if (!outcome) return {};
      measured = outcome->burst(search.interval_ns());
      if (!judge(measured, rest, settings).is_saturated(settings.rule)) break;
    }
    search.add(measured);
  }
  return search;
}

std::optional<Confirmation> Experiment::confirm(std::uint32_t events, double boi_ns) {
  Confirmation confirmation(boi_ns);
  while (!confirmation.is_done()) {
    Play burst;
    burst.rounds = std::min(confirmation.rounds(), stage_.shape().max_rounds);
    burst.events = events;
    burst.interval_ns = static_cast<std::int64_t>(confirmation.interval_ns());
    const auto outcome = play(burst);
    if (!outcome) return {};
    confirmation.add(outcome->burst(confirmation.interval_ns()));
  }
  return confirmation;
}

}  // namespace tare::tared
