// tare-sweetspot RANKS FAN_OUT NODES EVENTS ROUNDS TRANSPORT ACCEPTANCE FILTER : measures a monitoring tree of this
// machine's processes for `tare sweetspot`. NODES is 0 for a tree whose inner nodes have no ranks. TRANSPORT is unix or
// tcp. Commands come as lines, and each is answered by one line of JSON; times are ns:
//
//   tree                                        the tree that was formed
//   rest EVENTS ROUNDS                          one-way delays under stop-and-go
//   boi EVENTS LOW REST_MEAN REST_DEVIATION L K RULE   a search; RULE is printed or guarded,
//                                               which is confirmed at the end
//   burst EVENTS ROUNDS INTERVAL                rounds by the clock
//   random EVENTS ROUNDS INTERVAL               rounds at random intervals, INTERVAL is their mean
//   controlled EVENTS ROUNDS POINT              so many rounds when the interval that the root finds has settled, where
//                                               ranks could offload each POINT
//   bsp EVENTS ROUNDS INTERVAL POLICY OFFLOADS  bspbench: POLICY is block, unbound or lossy; OFFLOADS is 0 or 1
//
// It ends at the end of its input.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

#include "tared/sweetspot/experiment.h"

namespace tare::tared {
namespace {

class Line {
 public:
  Line& number(const char* name, double value) {
    begin(name);
    text_ << value;
    return *this;
  }
  template <class T>
  Line& numbers(const char* name, const T& values) {
    begin(name);
    text_ << '[';
    bool is_first = true;
    for (const auto& value : values) {
      text_ << (is_first ? "" : ",") << static_cast<double>(value);
      is_first = false;
    }
    text_ << ']';
    return *this;
  }
  Line& list(const char* name, const std::vector<std::string>& entries) {
    begin(name);
    text_ << '[';
    for (std::size_t i = 0; i < entries.size(); ++i) text_ << (i == 0 ? "" : ",") << entries[i];
    text_ << ']';
    return *this;
  }
  Line& text(const char* name, const std::string& value) {  // without characters that JSON escapes
    begin(name);
    text_ << '"' << value << '"';
    return *this;
  }
  std::string json() { return '{' + text_.str() + '}'; }

 private:
  void begin(const char* name) {
    text_.precision(12);
    if (text_.tellp() > 0) text_ << ',';
    text_ << '"' << name << "\":";
  }
  std::ostringstream text_;
};

std::string failed(const std::string& why) { return Line().text("error", why).json(); }

double proportional_kib(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/smaps_rollup");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("Pss:")) return std::stod(line.substr(4));
  return 0;
}

std::string tell_tree(const Experiment& experiment) {
  std::vector<double> kib{proportional_kib(getpid())};
  for (const pid_t process : experiment.processes()) kib.push_back(proportional_kib(process));
  return Line()
      .number("nodes", experiment.shape().nodes())
      .number("depth", experiment.shape().depth())
      .number("formed_ns", static_cast<double>(experiment.formed_ns()))
      .numbers("proportional_kib", kib)
      .json();
}

void add_rounds(Line& line, const Outcome& outcome, const Burst& burst) {
  double reduce_ns = 0;
  double packet_ns = 0;
  double reductions = 0;
  double packets = 0;
  for (const ArrivedRound& round : outcome.rounds) {
    reduce_ns += static_cast<double>(round.cost.reduce_ns);
    packet_ns += static_cast<double>(round.cost.packet_ns);
    reductions += round.cost.reductions;
    packets += round.cost.packets;
  }
  line.number("delivered", static_cast<double>(outcome.rounds.size()))
      .numbers("delays", burst.delays_ns)
      .numbers("arrivals", burst.arrivals_ns)
      .number("reduce_ns", reduce_ns)
      .number("packet_ns", packet_ns)
      .number("reductions", reductions)
      .number("packets", packets);
}

double incomplete(const Outcome& outcome) {
  return static_cast<double>(
      std::ranges::count_if(outcome.rounds, [](const ArrivedRound& round) { return !round.lost.empty(); }));
}

void add_offloads(Line& line, Experiment& experiment, std::uint32_t rounds) {
  const std::uint32_t ranks = experiment.stage().shape().ranks;
  std::vector<double> worst;
  std::vector<double> mean;
  std::vector<std::string> dropped;  // for each round: the ranks that dropped their snapshots
  for (std::uint32_t round = 0; round < rounds; ++round) {
    double most = 0;
    double sum = 0;
    RankSet lost;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      const Stage::Offload& offload = experiment.stage().offload(rank, round);
      most = std::max<double>(most, offload.cost_ns);
      sum += offload.cost_ns;
      if (offload.fate == Stage::Fate::dropped) lost.insert(rank);
    }
    worst.push_back(most);
    mean.push_back(sum / ranks);
    dropped.push_back('"' + lost.text() + '"');
  }
  line.numbers("worst_costs", worst).numbers("mean_costs", mean).list("dropped", dropped);
}

std::string run_boi(Experiment& experiment, std::istringstream& words) {
  std::uint32_t events = 0;
  double low = 0;
  Spread rest;
  SearchSettings settings;
  std::string rule;
  words >> events >> low >> rest.mean >> rest.deviation >> settings.rounds >> settings.k >> rule;
  settings.rule = rule == "printed" ? Rule::printed : Rule::guarded;
  const auto search = experiment.search(events, rest, low, settings);
  if (!search) return failed("rounds did not arrive");
  std::vector<std::string> steps;
  for (const BoiSearch::Step& step : search->steps())
    steps.push_back(Line()
                        .number("interval", step.interval_ns)
                        .number("low", step.low_ns)
                        .number("high", step.high_ns)
                        .number("growth", step.verdict.growth_ns)
                        .number("delay", step.verdict.mean_delay_ns)
                        .number("last_delay", step.verdict.last_delay_ns)
                        .number("arrival_interval", step.verdict.arrival_interval_ns)
                        .number("grows", step.verdict.grows)
                        .number("arrives_slowly", step.verdict.arrives_slowly)
                        .number("is_late", step.verdict.is_late)
                        .number("is_saturated", step.is_saturated)
                        .json());
  // The search of the paper has no confirmation.
  double boi = search->boi_ns();
  bool is_confirmed = true;
  std::vector<std::string> confirmations;
  if (settings.rule == Rule::guarded) {
    const auto confirmation = experiment.confirm(events, boi);
    if (!confirmation) return failed("rounds did not arrive");
    boi = confirmation->boi_ns();
    is_confirmed = confirmation->is_confirmed();
    for (const Confirmation::Step& step : confirmation->steps())
      confirmations.push_back(
          Line().number("interval", step.interval_ns).number("arrival_interval", step.arrival_interval_ns).json());
  }
  return Line()
      .number("boi", boi)
      .number("searched", search->boi_ns())
      .number("confirmed", is_confirmed)
      .list("confirmations", confirmations)
      .number("threshold", search->threshold_ns())
      .number("error", search->error_ns())
      .list("steps", steps)
      .json();
}

std::string run_play(Experiment& experiment, std::istringstream& words, const std::string& name) {
  Play play;
  std::string policy = "block";
  double interval = 0;
  words >> play.events >> play.rounds >> interval;
  play.interval_ns = static_cast<std::int64_t>(interval);
  const bool in_step = name == "bsp";
  play.in_step = in_step ? 1 : 0;
  play.irregular = name == "random" ? 1 : 0;
  if (in_step) words >> policy >> play.offloads;
  play.policy = policy == "lossy" ? Policy::lossy : policy == "unbound" ? Policy::unbound : Policy::block;
  if (play.rounds > experiment.stage().shape().max_rounds || play.events > experiment.stage().shape().max_events)
    return failed("more rounds or events than the tree was formed for");
  const auto outcome = experiment.play(play);
  if (!outcome) return failed("rounds did not arrive");
  Line line;
  line.number("played", static_cast<double>(outcome->played_ns))
      .number("drained", static_cast<double>(outcome->drained_ns))
      .number("arrival_interval", typical_arrival_interval(outcome->burst(interval)))
      .number("max_under_way", static_cast<double>(experiment.counts().max_under_way));
  add_rounds(line, *outcome, outcome->burst(interval));
  add_offloads(line, experiment, play.rounds);
  return line.number("incomplete", incomplete(*outcome)).json();
}

std::string run_controlled(Experiment& experiment, std::istringstream& words) {
  std::uint32_t events = 0;
  std::uint32_t rounds = 0;
  double point = 0;
  words >> events >> rounds >> point;
  if (events > experiment.stage().shape().max_events || point < 1) return failed("more events than there is room for");
  const auto found = experiment.play_controlled(events, rounds, static_cast<std::int64_t>(point));
  if (!found) return failed("no interval was found that the tree takes");
  Line line;
  line.number("interval", static_cast<double>(found->interval_ns))
      .number("boi", found->boi_ns)
      .number("incomplete", incomplete(found->outcome))
      .number("settling", static_cast<double>(found->settling_ns))
      .number("delivered_before", static_cast<double>(found->before.rounds.size()))
      .number("incomplete_before", incomplete(found->before));
  add_rounds(line, found->outcome, found->outcome.burst(static_cast<double>(found->interval_ns)));
  return line.json();
}

std::string run_command(Experiment& experiment, const std::string& text) {
  std::istringstream words(text);
  std::string name;
  words >> name;
  if (name == "tree") return tell_tree(experiment);
  if (name == "boi") return run_boi(experiment, words);
  if (name == "controlled") return run_controlled(experiment, words);
  if (name == "burst" || name == "random" || name == "bsp") return run_play(experiment, words, name);
  if (name != "rest") return failed("no such command");
  std::uint32_t events = 0;
  std::uint32_t rounds = 0;
  words >> events >> rounds;
  const auto delays = experiment.rest(events, rounds);
  return delays ? Line().numbers("delays", *delays).json() : failed("rounds did not arrive");
}

int run(char** argv) {
  ExperimentOptions options;
  const auto number = [](const char* text) { return static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10)); };
  options.ranks = number(argv[1]);
  options.fan_out = number(argv[2]);
  options.nodes = number(argv[3]);
  options.max_events = number(argv[4]);
  options.max_rounds = number(argv[5]);
  options.through_tcp = std::string(argv[6]) == "tcp";
  options.acceptance = number(argv[7]);
  options.filter = argv[8];
  std::string error;
  const auto experiment = Experiment::open(options, error);
  if (!experiment) {
    std::cerr << "tare-sweetspot: " << error << '\n';
    return 1;
  }
  for (std::string line; std::getline(std::cin, line);) std::cout << run_command(*experiment, line) << std::endl;
  if (experiment->end()) return 0;
  std::cerr << "tare-sweetspot: a process of the tree did not end cleanly\n";
  return 1;
}

}  // namespace
}  // namespace tare::tared

int main(int argc, char** argv) {
  if (argc != 9) {
    std::fprintf(stderr, "usage: tare-sweetspot RANKS FAN_OUT NODES EVENTS ROUNDS unix|tcp ACCEPTANCE FILTER\n");
    return 2;
  }
  return tare::tared::run(argv);
}
