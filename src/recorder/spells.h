// Spells: a run is cut into short parts, and how much of the calls is kept is decided for each.
//
// A spell begins and ends where all ranks pass together: behind a collective operation that all ranks of the world
// wait in, or where the program says tare_progress(). Passages are numbered; MPI's rules make the numbers equal on all
// ranks. How deep a spell is recorded is decided by a hash of its number and of the run's identifier, so ranks agree
// without a message, on whatever node.
//
// Two ask for spells, alone or together:
//
// - The trial (--weigh): a run as its own experiment. What a wrapper displaces from the caches, and what the delay of
//   one rank makes others wait, no clock in the process can see. So a share of the spells, the controls, only counts
//   calls. The reader compares them with neighbours (python/tare/analysis/trial.py). The idea of progress points is
//   Coz's (Curtsinger, Berger: Coz: Finding Code that Counts with Causal Profiling, SOSP 2015).
// - The budget (--budget): each rank's governor says which share of the spells may be traced, and which measured. The
//   ranks of a node take the least of what they said (budget/common_shares.h). A spell whose hash is low is traced, so
//   what ranks of other nodes trace, whose shares differ, is the same spells as far as it goes. Controls are not the
//   governor's: in them nothing is earned or spent.
//
// A spell is n / 512 + 1 passages long, where n is the number of its first passage. So a program that passes twenty
// times a second has spells of one passage. One that passes a million times a second has spells of milliseconds soon,
// and the log of spells stays short: 512 * (1 + ln(n / 512)).
#pragma once

#include <atomic>
#include <cstdint>

#include "recorder/budget/cost_factor.h"
#include "recorder/budget/governor.h"

namespace tare::format {
struct SpellDefinition;
}

namespace tare::recorder {

struct Location;

class Spells {
 public:
  // What the environment says: TARE_WEIGH, the share of spells that do not measure, more than 0 and less than 1;
  // TARE_BUDGET, the share of the time that recording may take, and behind a comma the bytes of the run's trace.
  // Anything else: nobody asks for spells. Before the first call.
  void begin(const char* weigh, const char* budget, const char* run_id) noexcept;
  bool are_asked() const noexcept { return controls_ != 0 || has_budget(); }
  bool has_budget() const noexcept { return budget_.share > 0; }

  // The thread has passed with all others, at a call site; `time`: when, in ticks; 0: just now. Only the first thread
  // of a process counts: the threads of a process do not pass in one order.
  void pass(Location& location, std::uint32_t site, std::uint64_t time) noexcept;
  // The same of a call that is only counted: the spell does not end with it.
  void pass_silently(const Location& location) noexcept;
  // Whether the next passage of the first thread ends the spell under way.
  bool end_with_next() const noexcept { return are_asked() && !is_named_ && passages_ + 1 >= next_; }
  // The program has said so. From the first time on, other passages do not count.
  void progress(Location& location) noexcept;

  // A call of the thread was weighed, and took so many ticks of its wrapper's own; or calls are only counted, some
  // hundreds have been, and `ticks` is 0. There is a budget.
  [[gnu::cold]] void check(Location& location, std::uint64_t time, std::uint64_t ticks) noexcept;

  // In a forked child, which begins anew.
  void forget() noexcept;

 private:
  static constexpr std::uint64_t passages_a_length = 512;
  static constexpr double least_bytes_left = 0.02;  // buffers are not empty when the trace ends

  void count(Location& location, std::uint32_t site, std::uint64_t time) noexcept;
  // What is known of the spell under way at its begin.
  format::SpellDefinition definition() const noexcept;
  void end_spell(Location& location, std::uint32_t site, std::uint64_t time) noexcept;
  void begin_spell(Location& location, std::uint32_t site, std::uint64_t time) noexcept;
  // What the spell that ends says of the cost.
  void compare(Location& location, const format::SpellDefinition& spell) noexcept;
  struct Chosen {
    Depth depth;
    double measured;  // with what probability such a spell is
    bool is_control;
  };
  Chosen choose(Location& location, std::uint64_t time, std::uint64_t expected_ticks) noexcept;
  void advance(Location& location, std::uint64_t time) noexcept;
  // Of the bytes that the budget allows this process: 0 to 1.
  double bytes_left() const noexcept;
  double traced_share_of_bytes() const noexcept;
  void change(Location& location, Depth depth, std::uint64_t time) noexcept;

  std::uint64_t controls_ = 0;  // a spell whose hash is below is a control; 0: there is no trial
  Budget budget_{};
  CostFactor cost_factor_{};
  std::atomic<std::uint64_t> stored_{0};  // bytes of the trace on disk, of all threads
  std::uint64_t seed_ = 0;
  std::uint64_t passages_ = 0;
  std::uint64_t next_ = 1;  // the passage that ends the spell under way
  bool is_named_ = false;   // tare_progress() has been called
  // The spell under way:
  std::uint32_t spell_ = 0;  // 0: the first has not begun
  std::uint32_t site_ = 0;
  std::uint32_t length_ = 0;
  std::uint64_t begin_ = 0;  // ticks
  std::uint64_t calls_ = 0;  // Weighing::calls() then; the next are those of the location
  std::uint64_t counted_ = 0;
  std::uint64_t counted_polls_ = 0;
  std::uint64_t flush_ticks_ = 0;
  Depth depth_ = Depth::trace;  // as it began
  bool is_cut_ = false;         // it is less deep now
  bool is_control_ = false;
  bool has_requests_ = false;  // some were under way when it began
};

// Of this process.
[[gnu::visibility("hidden")]] extern constinit Spells spells;

}  // namespace tare::recorder
