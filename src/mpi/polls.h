// Polls: calls that ask whether something has completed or arrived, and do not wait for it. Most are *idle*: they find
// nothing.
//
// A program that polls repeatedly is waiting, also between its polls. So a poll that follows an idle poll within
// `gap_ns`, without another call of MPI or of tare's API in between, begins where the idle one ended. This holds for
// profile and trace alike, so everything that is computed from them agrees on what is waiting.
//
// A program may poll every few nanoseconds; reading the clock before and after would more than double the time of a
// poll. So after `period` idle polls of a call site in quick succession (a streak), only one poll in `period` is timed;
// the others are counted. Together, the untimed ones get all the time until the next timed one, if that is not much
// longer than as many took when all were timed. Otherwise the program did something else in between, and each gets the
// duration of the next timed one (ProfileRow::estimated).
//
// An untimed poll that finds something ends the streak. It gets the duration of the last timed poll that found
// something, and the time of its end is read. While the program handles what was found, polls are timed again; a few
// idle ones then begin the next streak. If polls of several sites alternate, all are timed.
//
// Only the owning thread uses it; zero-initialised, and cleared before its first use.
#pragma once

#include <algorithm>
#include <cstdint>

#include "format/profile_row.h"
#include "mpi/path_memo.h"
#include "recorder/location.h"

namespace tare::mpi {

class Polls {
 public:
  static constexpr std::uint32_t period = 32;
  static constexpr std::uint32_t few = 2;
  static constexpr std::uint64_t gap_ns = 1024;  // about, by the clock's ticks

  // The polls of one call site and communicator, from one place of the stack.
  struct alignas(64) Site {
    std::uint64_t skips;  // `key` as long as the next one need not be timed, else 0
    format::ProfileRow* row;
    std::uint32_t left;    // of the next ones, how many need not be timed
    std::uint32_t number;  // of the call site
    std::uint32_t communicator;
    // Timed idle polls in quick succession, at most `period`: from then on `left` counts. A poll that finds something
    // in such a streak, or just after it, lowers this by `few` only.
    std::uint32_t streak;
    PathMemo::Conditions conditions;
    std::uint64_t key;          // return address and function; 0: there are none
    std::uint64_t leave;        // of the last one that was timed, and how long
    std::uint64_t idle_ticks;   // duration of the last timed poll that was idle,
    std::uint64_t found_ticks;  // and of the last one that was not; 0: there is none
    // Timed polls in quick succession: their number, and the sum of the times from the end of one to the end of the
    // next.
    std::uint64_t cycles, cycle_ticks;

    // Whether a poll of this key (key_of) need not be timed.
    [[gnu::always_inline]] bool has_skips(std::uint64_t of, const Frame& caller) const noexcept {
      return skips == of && conditions.holds(caller);
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
      return time - std::min(std::max(idle_ticks, found_ticks), time - leave);
    }
  };

  static std::uint64_t key_of(std::uintptr_t return_address, std::uint16_t function) noexcept {
    return return_address ^ std::uint64_t{function} << 48;
  }
  // Where those of a key are, if they are not others.
  Site& site(std::uint64_t key) noexcept { return sites_[key / 8 % slots]; }
  // When one that is timed has begun: at `now`, when the call of the thread before it had ended at `last`. Where it
  // begins as profile and trace have it.
  std::uint64_t begin(const recorder::Location& location, std::uint64_t last, std::uint64_t now) const noexcept {
    const bool goes_on = last == idle_leave_ && now - last < quick_ticks_ && location.head == idle_head_ &&
                         location.shared->summary.phase_since <= last && (skipping_ == nullptr || pending() == 0);
    return goes_on ? last : now;
  }
  // When it has ended, and been committed.
  void end(const recorder::Location& location, const recorder::Call& call, bool is_idle) noexcept {
    idle_leave_ = is_idle ? call.leave : 0;
    idle_head_ = location.head;
  }
  // After one that found something, and was not timed. `last` as above.
  void end_streak(recorder::Location& location, Site& site, const recorder::Call& call, std::uint64_t last) noexcept;
  // After one that has been timed, and committed to `row`, where there is no trace. `last` and `now` as above.
  void note(recorder::Location& location, PathMemo& paths, const Frame& caller, const recorder::Call& call,
            format::ProfileRow& row, bool is_idle, std::uint64_t last, std::uint64_t now) noexcept;
  // All are timed again, until new streaks begin.
  void forget() noexcept;
  // `clock_ticks`: that a reading of the clock adds to a time.
  void clear(std::uint64_t clock_ticks) noexcept;

 private:
  static constexpr unsigned slots = 32;

  Site sites_[slots];
  // Adds to the row of `site` the time of those that were not timed, up to `time`: all that there was since the one
  // before them, or, if something came between, what as many take; one that was timed took `ticks`. Whether it was all.
  // `last`: when the call of the thread had ended that was timed last.
  bool settle(recorder::Location& location, const Site& site, std::uint64_t ticks, std::uint64_t last,
              std::uint64_t time) const noexcept;
  std::uint32_t pending() const noexcept { return skipping_->pending(); }

  Site* skipping_;            // of which some need not be timed, or were not; nullptr: none
  const Site* last_;          // of the last one that was timed
  std::uint64_t idle_leave_;  // end of the last call, if that was an idle poll
  std::uint64_t idle_head_;   // Location::head then
  std::uint64_t
      quick_ticks_;  // gap_ns; also of polls that follow one another quickly, from the end of one to the next's
  std::uint64_t clock_ticks_;
};

}  // namespace tare::mpi
