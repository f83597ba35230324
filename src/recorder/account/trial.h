// A run as its own experiment: what measuring costs, found by switching it off for short spells.
//
// What a wrapper displaces from the caches, and what the delay of one rank makes others wait, no clock in the process
// can see. So the run is cut into spells, and a spell measures or does not, at random. In one that does not, wrappers
// only count. The reader compares spells that measure with neighbours that do not (python/tare/analysis/trial.py).
//
// A spell begins and ends where all ranks pass together: behind a collective operation that all ranks of the world
// wait in, or where the program says tare_progress(). Passages are numbered; MPI's rules make the numbers equal on all
// ranks. Whether a spell measures is a hash of its number and of the run's identifier, so ranks agree without a
// message, on whatever node.
//
// A spell is n / 512 + 1 passages long, where n is the number of its first passage. So a program that passes twenty
// times a second has spells of one passage. One that passes a million times a second has spells of milliseconds soon,
// and the log of spells stays short: 512 * (1 + ln(n / 512)).
//
// The idea of progress points is Coz's (Curtsinger, Berger: Coz: Finding Code that Counts with Causal Profiling,
// SOSP 2015).
#pragma once

#include <cstdint>

namespace tare::recorder {

struct Location;

class Trial {
 public:
  // The share of spells that do not measure, as TARE_WEIGH says it: more than 0 and less than 1. Anything else: there
  // is no trial. Before the first call.
  void begin(const char* share, const char* run_id) noexcept;
  bool is_asked() const noexcept { return threshold_ != 0; }

  // The thread has passed with all others, at a call site; `time`: when, in ticks. Only the first thread of a process
  // counts: the threads of a process do not pass in one order.
  void pass(Location& location, std::uint32_t site, std::uint64_t time) noexcept;
  // The program has said so. From the first time on, other passages do not count.
  void progress(Location& location) noexcept;

  // In a forked child, which begins anew.
  void forget() noexcept { *this = Trial{}; }

 private:
  static constexpr std::uint64_t passages_a_length = 512;

  void count(Location& location, std::uint32_t site, std::uint64_t time) noexcept;
  void end_spell(const Location& location, std::uint32_t site, std::uint64_t time) const noexcept;
  void begin_spell(Location& location, std::uint32_t site) noexcept;

  std::uint64_t threshold_ = 0;  // a spell whose hash is below does not measure; 0: there is no trial
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
};

// Of this process.
[[gnu::visibility("hidden")]] extern constinit Trial trial;

}  // namespace tare::recorder
