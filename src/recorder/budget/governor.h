// Decides how much a thread may record so that recording costs no more than a share of its time.
//
// The governor keeps a balance, in ticks. Each tick of program time adds `share` to it. The time of wrappers and drains
// is subtracted. Weighed calls (recorder/account/weighing.h) say what a call costs at each depth. With the rate of
// calls, this gives the cost of each depth, and so the share of the spells (recorder/spells.h) that may be traced, and
// the share that may be measured at all. The shares are chosen so that the balance returns to zero within half a
// second. This is proportional control of an integral, so it does not oscillate.
//
// A spell may cost much more than those before, because the program does something else now. limit() then lowers the
// depth of the rest of the spell. Only the owning thread uses a governor. Zero-initialised.
#pragma once

#include <cstdint>

namespace tare::recorder {

// How much is recorded of calls. counts: only their number. thinned: the profile, but only some of the brief calls are
// timed (timing_sample.h). profile: the profile, all calls timed. trace: the profile, and a record of each call.
enum class Depth : std::uint8_t { counts, thinned, profile, trace };
inline constexpr unsigned depths = 4;

// What the user allows.
struct Budget {
  double share = 0;         // of the program's time; 0: there is no budget
  std::uint64_t bytes = 0;  // of the trace of all ranks, on disk; 0: any number
};

// What a thread has done so far. No value ever decreases.
struct Progress {
  std::uint64_t time;         // ticks
  std::uint64_t calls;        // that were measured
  std::uint64_t counted;      // that were only counted
  std::uint64_t in_wrappers;  // of them, the ones that did not bypass their wrappers
  std::uint64_t flush_ticks;  // writing out event buffers
  std::uint64_t other_ticks;  // ending and beginning spells, samples of stacks, readings of processor times
};

// Ticks of a call by depth, as weighed calls say: without drains.
struct Costs {
  double of[depths];
};

struct Governor {
  // Shares of the spells, 0 to 1: those that are traced, and those that are measured (traced ones included).
  struct Shares {
    double traced;
    double measured;
  };

  // Starts the account. `ticks_per_ms` need only be approximate.
  void begin(const Progress& progress, double ticks_per_ms) noexcept;
  bool has_begun() const noexcept { return ticks_per_ms_ != 0; }
  // Leaves the time since the last call out of the account.
  void pass_over(const Progress& progress) noexcept { last_ = progress; }
  // The wrapper of a weighed call took so many ticks, without drains, and ended no spell.
  void note_cost(Depth depth, std::uint64_t ticks) noexcept;
  // A call at `depth` really costs `factor` times what weighed calls say (cost_factor.h).
  void note_factor(Depth depth, double factor) noexcept { factor_[static_cast<unsigned>(depth)] = factor; }
  // By weighed calls alone, without the factor.
  Costs account() const noexcept;
  // Brings the balance up to date. The thread has recorded at `depth` since the last call.
  void advance(const Budget& budget, Depth depth, const Progress& progress) noexcept;
  // To be called when a spell begins that is about `expected_ticks` long. Returns the shares for the spells from now
  // on.
  Shares plan(const Budget& budget, std::uint64_t expected_ticks) noexcept;
  // The depth of measured spells without a trace. Ranks need not agree on it.
  Depth profile_depth() const noexcept { return thins_ ? Depth::thinned : Depth::profile; }
  // The greatest depth for the rest of a spell that has begun at `depth`.
  Depth limit(const Budget& budget, Depth depth) const noexcept;
  // Whether the balance allows to trace an untraced thread for a while, although no spell begins.
  bool has_saved(const Budget& budget) const noexcept;

  // Ticks that may be spent. Negative if too many were spent.
  double balance() const noexcept { return balance_; }

 private:
  // Ticks that a call costs, with its part of the drains.
  double cost_of(Depth depth) const noexcept;
  // Without drains, because advance() subtracts drains when they happen.
  double cost_without_drains(Depth depth) const noexcept;
  // What weighed calls say: without drains and without the factor.
  double account_of_call(Depth depth) const noexcept;
  double highest_balance(const Budget& budget) const noexcept;

  Progress last_;
  double ticks_per_ms_;
  double balance_;
  // Recent averages:
  double rate_;          // calls a tick
  double cost_[depths];  // ticks of a call, without drains; 0: none was weighed
  unsigned weighed_[depths];
  double counting_;       // ticks of a call that is only counted; 0: there was none
  double drained_ticks_;  // ticks of drains
  double drained_calls_;  // traced calls in the same time
  // When the spell under way began:
  double planned_;         // the share of the time that tracing it was expected to cost
  double planned_ticks_;   // its expected length
  double factor_[depths];  // 0: not known
  bool thins_;
};

}  // namespace tare::recorder
