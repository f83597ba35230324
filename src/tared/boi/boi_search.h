// The search for the bottleneck offload interval (BOI): the least interval between offloads at which no queue builds up
// in the monitoring tree.
//
// Nataraj et al., In Search of Sweet-Spots in Parallel Performance Monitoring (CLUSTER 2008), section IV, as printed:
//
//   threshold = restOWD + k restSD
//   High = restOWD. Low = 0, or the BOI of the next smaller profile. Curr = High.
//   l rounds at Curr; growth = mean of the successive increases of their one-way delays.
//   growth > restSD and mean delay > threshold: Low = Curr, Curr = middle of the upper half.
//   Else: High = Curr, Curr = middle of the lower half.
//   Until High - Low < 2 restSD. The result is Curr, or High if growth is above the threshold then.
//
// OWD: one-way delay. restOWD and restSD: its mean and standard deviation if rounds do not wait for one another.
//
// A tree that is saturated from the first round on has a long delay that does not grow within l rounds, so the printed
// rule takes it for sustainable. Rule::guarded therefore also rejects an interval if rounds arrive more slowly than
// they are sent, or if the last ones are later than a round without a queue can be. It begins above restOWD if restOWD
// itself is too short, which happens if nodes share processors. Its error threshold is at least 4 % of High, because
// steps that l rounds cannot distinguish do not improve the result.
//
// The buffers of a tree hold about l rounds. So l rounds can be sent too quickly without a visible effect, and the
// result can be too low by a third. The confirmation therefore adds the test that the paper applies to its results
// (Figure 7): many rounds at an interval that is shorter by a fifth. They cannot arrive faster than the true interval
// allows. But a saturated tree may be slower than one that is not quite saturated. So the confirmed interval is lowered
// step by step as long as rounds at it are sustained.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tare::tared {

struct Spread {
  double mean = 0;
  double deviation = 0;  // standard deviation of the sample
};
Spread spread_of(std::span<const double> values);
double median_of(std::vector<double> values);

enum class Rule { printed, guarded };  // as printed in the paper, or with the additions described above

struct SearchSettings {
  std::uint32_t rounds = 20;  // l
  double k = 2;
  Rule rule = Rule::guarded;
};

// Rounds at one interval, in the order of their numbers. Times are in ns.
struct Burst {
  double interval_ns = 0;
  std::vector<double> delays_ns;    // from the earliest offload of a round to its arrival
  std::vector<double> arrivals_ns;  // at the root
};

struct Verdict {
  double growth_ns = 0;
  double mean_delay_ns = 0;
  double last_delay_ns = 0;        // mean of the last quarter
  double arrival_interval_ns = 0;  // from the first to the last quarter
  bool grows = false;              // saturated by the printed rule
  bool arrives_slowly = false;
  bool is_late = false;
  bool is_saturated(Rule rule) const { return grows || (rule == Rule::guarded && (arrives_slowly || is_late)); }
};
// Judges whether the interval of a burst is sustained. `rest`: one-way delay at rest.
Verdict judge(const Burst& burst, const Spread& rest, const SearchSettings& settings);

// The typical interval between arrivals in ns: the median over parts of a long burst. So a few parts with rounds that
// waited for another program on the machine, or that caught up, do not change the result. 0 if there are fewer than 24
// rounds.
double typical_arrival_interval(const Burst& burst);

// Confirms an interval: repeats until rounds that are sent at an interval shorter by a fifth arrive at the confirmed
// interval, within 5 %. If the speed of the machine changes, that may never happen; then the result is the median of
// the last three. The confirmed interval is lowered by 4 %, up to four times, as long as rounds sent at it arrive at
// it, within 3 %. A tree may be slower by more than a fifth while it is saturated. Then rounds at an interval are
// sustained, and those that are sent more often arrive at a longer interval. Such an interval is not confirmed, but it
// is lowered in the same way.
class Confirmation {
 public:
  explicit Confirmation(double boi_ns) : boi_(boi_ns) {}
  bool is_done() const { return lowers_ ? is_lowest_ || lowered_ == max_lowered : steps_.size() >= max_steps; }
  bool is_confirmed() const { return is_confirmed_; }
  double interval_ns() const { return (1 - (lowers_ ? lower_by : below)) * boi_; }  // to measure next
  // The number of rounds to measure next: enough to show the speed of the tree, even beside another program.
  std::uint32_t rounds() const;
  void add(const Burst& burst);
  double boi_ns() const { return boi_; }

  struct Step {
    double interval_ns;
    double arrival_interval_ns;
  };
  const std::vector<Step>& steps() const { return steps_; }

  static constexpr std::uint32_t max_rounds = 1000;

 private:
  static constexpr double below = 0.2;
  static constexpr std::size_t max_steps = 6;
  static constexpr double lower_by = 0.04;
  static constexpr unsigned max_lowered = 4;

  void confirm(double sent, double arrives);

  double boi_;
  bool is_confirmed_ = false;
  bool is_sustained_ = false;  // rounds that were sent at boi_ arrived at it
  bool lowers_ = false;
  bool is_lowest_ = false;  // rounds at shorter intervals were not sustained
  unsigned lowered_ = 0;    // how often it was lowered
  std::vector<Step> steps_;
};

// The search itself. The caller measures a burst of SearchSettings::rounds rounds at interval_ns() and adds it, until
// is_done(). `rest`: one-way delay at rest. `low_ns`: the BOI of the next smaller profile, or 0. Not thread-safe.
class BoiSearch {
 public:
  BoiSearch(const Spread& rest, double low_ns, const SearchSettings& settings);
  bool is_done() const { return is_done_; }
  double interval_ns() const { return current_; }  // to measure next
  void add(const Burst& burst);
  double boi_ns() const { return boi_; }            // the result, when it is done
  double range_ns() const { return high_ - low_; }  // the range in which it lies

  struct Step {
    double interval_ns;
    double low_ns;
    double high_ns;
    Verdict verdict;
    bool is_saturated;
  };
  const std::vector<Step>& steps() const { return steps_; }
  double threshold_ns() const { return rest_.mean + settings_.k * rest_.deviation; }
  double error_ns() const;

 private:
  Spread rest_;
  SearchSettings settings_;
  double low_;
  double high_;
  double current_;
  double boi_ = 0;
  bool has_bound_ = false;  // High is known to be sustainable
  bool is_done_ = false;
  std::vector<Step> steps_;
};

}  // namespace tare::tared
