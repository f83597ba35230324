// Polls: calls that ask whether something has come, and do not wait for it. Most find nothing.
//
// A program may poll every few nanoseconds; reading the clock before and after would more than double the time of a
// poll. So where the polls of a call site have found nothing `period` times in a row, and follow one another quickly,
// only one of `period` is timed. The others are counted, and taken to have lasted as long as the one that is timed next
// (ProfileRow::estimated). One of these others that finds something ends the streak: it is taken to have lasted as long
// as the last one that found something and was timed, and to have ended when it did. The program deals with what was
// found; then a few in vain begin the next streak.
//
// Only the owning thread uses it; zero-initialised, and cleared before its first use.
#pragma once

#include <algorithm>
#include <cstdint>

#include "format/segment.h"
#include "mpi/path_memo.h"
#include "recorder/location.h"

namespace tare::mpi {

class Polls {
 public:
  static constexpr std::uint32_t period = 32;
  static constexpr std::uint32_t few = 2;

  // The polls of one call site and communicator, from one place of the stack.
  struct alignas(64) Site {
    std::uint64_t skips;  // `key` as long as the next one need not be timed, else 0
    format::ProfileRow* row;
    std::uint32_t left;    // of the next ones, how many need not be timed
    std::uint32_t number;  // of the call site
    std::uint32_t communicator;
    // Timed ones in vain, quickly one after another; up to period: then `left` counts. What is found in a streak of
    // that many, or just after, leaves all but a few of it.
    std::uint32_t streak;
    PathMemo::Proof proof;
    std::uint64_t key;          // return address and function; 0: there are none
    std::uint64_t leave;        // of the last one that was timed, and how long
    std::uint64_t vain_ticks;   // the last one that was timed took that was in vain,
    std::uint64_t found_ticks;  // and the last one that was not; 0: there is none

    // Whether a poll of this key (key_of) need not be timed.
    [[gnu::always_inline]] bool has_skips(std::uint64_t of, const Frame& caller) const noexcept {
      return skips == of && proof.holds(caller);
    }
    // It was not.
    [[gnu::always_inline]] void skip() noexcept {
      if (--left == 0) [[unlikely]]
        skips = 0;
      ++row->calls;
      ++row->estimated;
    }
    // From here on, that many need not be timed.
    void allow(std::uint32_t count) noexcept {
      left = count;
      skips = count == 0 ? 0 : key;
    }
    std::uint32_t pending() const noexcept { return streak == period ? period - 1 - left : 0; }
    // When one probably began that was not timed, and found something, at `time`.
    std::uint64_t estimated_enter(std::uint64_t time) const noexcept {
      return time - std::min(std::max(vain_ticks, found_ticks), time - leave);
    }
  };

  static std::uint64_t key_of(std::uintptr_t return_address, std::uint16_t function) noexcept {
    return return_address ^ std::uint64_t{function} << 48;
  }
  // Where those of a key are, if they are not others.
  Site& site(std::uint64_t key) noexcept { return sites_[key / 8 % slots]; }
  // After one that found something, and was not timed.
  void end_streak(recorder::Location& location, Site& site, const recorder::Call& call) const noexcept;
  // After one that has been timed, and committed to `row`.
  void note(recorder::Location& location, PathMemo& paths, const Frame& caller, const recorder::Call& call,
            format::ProfileRow& row, bool in_vain) noexcept;
  // All are timed again, until there are streaks anew.
  void forget() noexcept;
  void clear() noexcept;

 private:
  static constexpr unsigned slots = 32;

  Site sites_[slots];
  // Adds to the row of `site` the time of those that were not timed, up to `time`, of which each took as long as one
  // that was timed, and took `ticks`; together no longer than it has been since the one before them.
  void settle(recorder::Location& location, const Site& site, std::uint64_t ticks, std::uint64_t time) const noexcept;

  std::uint64_t
      quick_ticks_;  // of polls that follow one another quickly, the time from the end of one to that of the next
  std::uint64_t clock_ticks_;  // that a reading of the clock adds to a time
};

}  // namespace tare::mpi
