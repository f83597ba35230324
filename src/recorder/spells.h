// Spells: a run is cut into short parts, and for each it is decided how much is recorded of its calls.
//
// A spell begins and ends at a synchronisation point, a point that all ranks pass together: after a collective
// operation in which all ranks of MPI_COMM_WORLD wait for one another, or where the program calls tare_progress().
// Synchronisation points are numbered. MPI's rules make the numbers equal on all ranks. A hash of the spell's number
// and the run's identifier decides how deep the spell is recorded. So ranks of all nodes agree without a message.
//
// Spells serve two purposes, which can be combined:
//
// - The trial (--weigh), an experiment within the run. No clock in the process can see which data a wrapper evicts from
//   the caches, or how long other ranks wait for a delayed one. So a share of the spells, the controls, only counts
//   calls. The reader compares them with their neighbours (python/tare/analysis/trial.py). Progress points are an idea
//   of Coz (Curtsinger, Berger: Coz: Finding Code that Counts with Causal Profiling, SOSP 2015).
// - The budget (--budget). Each rank's governor computes which share of the spells may be traced, and which share
//   measured. The ranks of a node use the least of these shares (budget/common_shares.h). Spells with a low hash are
//   traced. So if two nodes have different shares, the spells that one traces are among those that the other traces.
//   The governor does not decide about controls, and leaves their time out of its balance.
//
// Where all ranks of a node make calls but pass no synchronisation point for a while, they go over to timed spells,
// which are of equal time. One rank alone may be polling while another has no processor; so without the others it goes
// over only after a long while, because one of them may compute without a call for as long. Timed spells have no trace
// with matched messages, so a trace that is not the budget's to thin stays as it is. Each rank ends a timed spell at
// the first call after the common time at which its program is where it was at the begin of the spell (repetition.h).
// So a spell that only counts has as much of each part of an iteration as one that is measured, and their numbers of
// calls in the same time tell what measuring costs.
//
// A spell between synchronisation points has n / 512 + 1 of them, where n is the number of its first synchronisation
// point. A program with twenty synchronisation points a second has spells of one synchronisation point. One with a
// million a second soon has spells of milliseconds. After n synchronisation points there are about 512 * (1 + ln(n /
// 512)) spells, so the log of spells stays short.
#pragma once

#include <atomic>
#include <cstdint>

#include "recorder/budget/cost_factor.h"
#include "recorder/budget/governor.h"
#include "recorder/repetition.h"

namespace tare::format {
struct SpellDefinition;
}

namespace tare::recorder {

struct Location;

class Spells {
 public:
  // Calls that are only counted, between two that are followed by check_counted() (weighed_call.h); or fewer.
  static constexpr std::int64_t calls_between_checks = 1024;

  // To be called before the first call, with the values of environment variables. TARE_WEIGH: the share of spells that
  // only count calls, between 0 and 1. TARE_BUDGET: the share of the time that recording may take, between 0 and 1, and
  // after a comma the bytes of the run's trace. With other values there are no spells.
  void begin(const char* weigh, const char* budget, const char* run_id) noexcept;
  bool are_asked() const noexcept { return controls_ != 0 || has_budget(); }
  bool has_budget() const noexcept { return budget_share() > 0; }
  // The share of the time that recording may take; 0: there is no budget.
  double budget_share() const noexcept { return budget_.share; }

  // A synchronisation point of the thread at a call site, at `time` in ticks; 0: now. Only those of the first thread of
  // a process count, because threads pass in no order.
  void pass(Location& location, std::uint32_t site, std::uint64_t time) noexcept;
  // The synchronisation point of a call that is only counted. It does not end the spell.
  void pass_silently(const Location& location) noexcept;
  // Whether the next synchronisation point of the first thread ends the spell under way.
  bool end_with_next() const noexcept { return are_asked() && !is_named_ && !is_timed_ && sync_points_ + 1 >= next_; }
  // The call that is about to pass a synchronisation point was measured, in a spell that only counts.
  void leave_out(std::uint64_t ticks) noexcept {
    if (counted_since_ != 0) set_counted_since(counted_since_ + ticks);
  }
  // The program has called tare_progress(). After the first time, only these synchronisation points count.
  void progress(Location& location) noexcept;

  // A request has completed whose start was not recorded. Any thread of the process may call it.
  [[gnu::cold]] void complete_unknown(const Location& location) noexcept;

  // Lets the governor check the spell under way. There must be a budget. To be called after a weighed call whose
  // wrapper took `ticks`; where calls are only counted, after every few hundred calls, with 0 ticks.
  [[gnu::cold]] void check(Location& location, std::uint64_t time, std::uint64_t ticks) noexcept;

  // After a call of any thread, at `time` in ticks: begins and ends timed spells. To be called from look_due() on,
  // and by a thread that only counts when so many calls were made as Location::until_check says. Sets Location::due.
  [[gnu::cold]] void look(Location& location, std::uint64_t time) noexcept;
  // In ticks.
  std::uint64_t look_due(const Location& location) const noexcept {
    return are_asked() && !is_named_ && is_first_thread(location) ? look_due_ : never;
  }

  // For a forked child, which begins anew.
  void reset() noexcept;

 private:
  static constexpr std::uint64_t sync_points_per_length = 512;
  static constexpr double min_bytes_left = 0.02;  // for what is still in the buffers when the trace ends
  static constexpr std::uint64_t never = ~std::uint64_t{0};

  static bool is_first_thread(const Location& location) noexcept;
  // Whether no synchronisation point was passed for so long that timed spells are better.
  bool needs_time(const Location& location, std::uint64_t time) noexcept;
  // Where there is a trace: a control without an end would cost it the rest of the run.
  void give_up_long_control(Location& location, std::uint64_t time) noexcept;
  // Between synchronisation points and timed spells: finds where the program repeats.
  void observe(Location& location, std::uint64_t time) noexcept;
  void set_observing(bool is_observing) noexcept;
  // Whether timed spells are better for all ranks of the node, as far as is known.
  bool may_be_timed(std::uint64_t time) const noexcept;
  void agree_on_time() noexcept;
  void look_at_timed(Location& location, std::uint64_t time) noexcept;
  // Sets after how many calls and when to look again, with `ticks` left of a timed spell.
  void look_again(Location& location, std::uint64_t time, std::uint64_t ticks) noexcept;

  void count(Location& location, std::uint32_t site, std::uint64_t time) noexcept;
  // The spell under way, as far as it is known when it begins.
  format::SpellDefinition definition(bool completes_unknown) const noexcept;
  // Adds the ticks up to `time` to counted_ticks_, if calls are only counted.
  void count_until(std::uint64_t time) noexcept;
  void set_counted_since(std::uint64_t time) noexcept;
  void end_spell(Location& location, std::uint32_t site, std::uint64_t time) noexcept;
  void begin_spell(Location& location, std::uint32_t number, std::uint32_t sync_points, std::uint32_t site,
                   std::uint64_t time) noexcept;
  // Gives the spell that ends to the cost factor.
  void compare(Location& location, const format::SpellDefinition& spell) noexcept;
  struct Chosen {
    Depth depth;
    double measured;  // the probability that a spell is measured
    bool is_control;
  };
  Chosen choose(Location& location, std::uint64_t time, std::uint64_t expected_ticks) noexcept;
  void advance(Location& location, std::uint64_t time) noexcept;
  // The share that is left of the bytes that the budget allows: 0 to 1.
  double bytes_left() const noexcept;
  double traced_share_of_bytes() const noexcept;
  void change(Location& location, Depth depth, std::uint64_t time) noexcept;

  std::uint64_t controls_ = 0;  // spells with a hash below this are controls; 0: there is no trial
  Budget budget_{};
  CostFactor cost_factor_{};
  std::atomic<std::uint64_t> stored_{0};  // bytes of the trace on disk, of all threads
  std::uint64_t seed_ = 0;
  std::uint64_t sync_points_ = 0;
  std::uint64_t next_ = 1;         // the synchronisation point that ends the spell under way
  bool is_named_ = false;          // tare_progress() has been called
  std::uint64_t spell_ticks_ = 0;  // that ending and beginning spells took
  // Timed spells:
  bool is_timed_ = false;
  bool is_observing_ = false;
  bool is_rank_ = false;                  // and one of TimedSpells::ranks
  std::uint64_t look_due_ = 0;            // in ticks
  std::uint64_t seen_ = 0, seen_at_ = 0;  // sync_points_, and when they became so many, in ticks;
  std::uint64_t seen_calls_ = 0;          // and Location::calls_made() then
  std::uint64_t longest_ = 0;             // spell so far, in ticks
  std::uint64_t end_calls_ = 0;           // made when the spell under way ends; 0: its time has not passed
  Repetition repetition_{};
  // The spell under way:
  std::uint32_t spell_ = 0;  // 0: the first has not begun
  std::uint32_t site_ = 0;
  std::uint32_t length_ = 0;
  std::uint64_t begin_ = 0;          // ticks
  std::uint64_t counted_ticks_ = 0;  // in which calls were only counted
  std::uint64_t counted_since_ = 0;  // since when they are; 0: they are not
  // Counts of the location when it began:
  std::uint64_t calls_ = 0;  // Weighing::calls()
  std::uint64_t counted_ = 0;
  std::uint64_t counted_polls_ = 0;
  std::uint64_t flush_ticks_ = 0;
  Depth depth_ = Depth::trace;  // when it began
  bool is_cut_ = false;         // its depth was lowered since
  bool is_control_ = false;
  bool has_requests_ = false;                   // requests were under way when it began
  std::atomic<bool> completes_unknown_{false};  // format::spell_completes_unknown
  // Its calls were only counted for a while after a cut, and are measured again. A request whose start was not recorded
  // may have been started in this while, so it says nothing of the trace before.
  std::atomic<bool> has_counted_{false};
};

// The spells of this process.
[[gnu::visibility("hidden")]] extern constinit Spells spells;

}  // namespace tare::recorder
