// How much a thread may record so that recording costs no more than a share of its time.
//
// The governor keeps an account: in each tick of time the program earns `share` ticks, and what the wrappers and drains
// take is paid from that. What a call costs is known from those that are weighed (recorder/account/weighing.h), by how
// much is kept of it. From the rate of calls follows what each depth would cost, and from that which share of the
// spells (recorder/spells.h) may be traced, and which measured at all. What has been spent too much, or too little, is
// made good within half a second: a proportional controller of an integral, which does not oscillate.
//
// A spell may turn out much dearer than those before, because the program does something else now. Then what is left of
// it is recorded less deeply (limit()). Only the owning thread uses a governor. Zero-initialised.
#pragma once

#include <cstdint>

namespace tare::recorder {

// How much is kept of calls: their number; what the profile says of them, with the times of some of those that are
// brief (timing_sample.h), or of all; beside that, each of them.
enum class Depth : std::uint8_t { counts, thinned, profile, trace };
inline constexpr unsigned depths = 4;

// What the user allows.
struct Budget {
  double share = 0;         // of the program's time; 0: there is no budget
  std::uint64_t bytes = 0;  // of the trace of all ranks, on disk; 0: any number
};

// What a thread has done so far. All grow.
struct Progress {
  std::uint64_t time;         // ticks
  std::uint64_t calls;        // that were measured
  std::uint64_t counted;      // that were only counted
  std::uint64_t flush_ticks;  // writing out event buffers
};

struct Governor {
  // Of spells: `traced` of them are traced, `measured` (at least as many) are measured.
  struct Shares {
    double traced;
    double measured;
  };

  // The thread's net time begins. `ticks_per_ms`: about.
  void begin(const Progress& progress, double ticks_per_ms) noexcept;
  bool has_begun() const noexcept { return ticks_per_ms_ != 0; }
  // Up to here nothing is earned or spent.
  void pass_over(const Progress& progress) noexcept { last_ = progress; }
  // A weighed call took so many ticks of the wrapper's own, without drains.
  void note_cost(Depth depth, std::uint64_t ticks) noexcept;
  // Measuring costs so many times what the account says (cost_factor.h).
  void note_factor(double factor) noexcept { factor_ = factor; }
  // What a spell has cost that was recorded from begin to end at one depth, by the account alone: ticks, without
  // drains.
  double account_of(Depth depth, std::uint64_t calls) const noexcept;
  // Time has passed, at one depth.
  void advance(const Budget& budget, Depth depth, const Progress& progress) noexcept;
  // A spell begins, about `expected_ticks` long. The shares that the spells from now on should have.
  Shares plan(const Budget& budget, std::uint64_t expected_ticks) noexcept;
  // How deep the profile of a spell that is not traced goes from now on: this needs no agreement of the ranks.
  Depth profile_depth() const noexcept { return thins_ ? Depth::thinned : Depth::profile; }
  // How deep the rest of a spell that has begun at `depth` may go.
  Depth limit(const Budget& budget, Depth depth) const noexcept;
  // Whether so much has been left over that an untraced thread may be traced for a while, though no spell begins.
  bool has_saved(const Budget& budget) const noexcept;

  // Ticks that may be spent; negative: too many have been.
  double balance() const noexcept { return balance_; }

 private:
  double cost_of(Depth depth) const noexcept;
  double account_of_call(Depth depth) const noexcept;
  // Without drains, which are paid when they come, though they are of many calls.
  double paid_for(Depth depth) const noexcept;
  double most_saved(const Budget& budget) const noexcept;

  Progress last_;
  double ticks_per_ms_;
  double balance_;
  double rate_;           // calls a tick, lately
  double cost_[depths];   // ticks of a call, lately, without drains; 0: none was weighed
  double drained_ticks_;  // lately, of drains,
  double drained_calls_;  // and calls that were traced
  double planned_;        // the share of the time that the calls of this spell were expected to take, if traced
  double planned_ticks_;  // of the spell
  double factor_;         // 0: not known
  bool thins_;
};

}  // namespace tare::recorder
