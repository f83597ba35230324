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
#include "recorder/location.h"
#include "stack/path_memo.h"

namespace tare::mpi {

class Polls {
 public:
  static constexpr std::uint32_t period = 32;
  static constexpr std::uint32_t few = 2;
  static constexpr std::uint64_t gap_ns = 1024;  // approximate: a tick is taken for a power of two

  // The polls of one call site and communicator, from one place of the stack.
  struct alignas(64) Site {
    std::uint64_t skips;  // `key` while the next poll need not be timed, else 0
    format::ProfileRow* row;
    std::uint32_t left;    // how many of the next polls need not be timed
    std::uint32_t number;  // of the call site
    std::uint32_t communicator;
    // Timed idle polls in quick succession, at most `period`: from then on `left` counts. A poll that finds something
    // in such a streak, or just after it, lowers this by `few` only.
    std::uint32_t streak;
    stack::PathMemo::Conditions conditions;
    std::uint64_t key;          // of return address and function; 0: the entry is free
    std::uint64_t leave;        // end of the last timed poll
    std::uint64_t idle_ticks;   // duration of the last timed poll that was idle,
    std::uint64_t found_ticks;  // and of the last one that was not; 0: there was none
    // Timed polls in quick succession: their number, and the sum of the times from the end of one to the end of the
    // next.
    std::uint64_t cycles, cycle_ticks;

    // Whether a poll with this key (key_of) need not be timed.
    [[gnu::always_inline]] bool has_skips(std::uint64_t of, const stack::Frame& caller) const noexcept {
      return skips == of && conditions.holds(caller);
    }
    // The poll was not timed.
    [[gnu::always_inline]] void skip() noexcept {
      if (--left == 0) [[unlikely]]
        skips = 0;
      ++row->calls;
      ++row->estimated;
    }
    // From now on, so many polls need not be timed.
    void allow(std::uint32_t count) noexcept {
      left = count;
      skips = count == 0 ? 0 : key;
    }
    std::uint32_t pending() const noexcept { return streak == period ? period - 1 - left : 0; }
    // The probable begin of an untimed poll that found something and ended at `time`.
    std::uint64_t estimated_enter(std::uint64_t time) const noexcept {
      return time - std::min(std::max(idle_ticks, found_ticks), time - leave);
    }
  };

  static std::uint64_t key_of(std::uintptr_t return_address, std::uint16_t function) noexcept {
    return return_address ^ std::uint64_t{function} << 48;
  }
  // The entry for the polls of this key, unless it is used for others.
  Site& site(std::uint64_t key) noexcept { return sites_[key / 8 % slots]; }
  // To be called when a timed poll begins, at `now`; the thread's previous call ended at `last`. Returns the begin that
  // profile and trace give it.
  std::uint64_t begin(const recorder::Location& location, std::uint64_t last, std::uint64_t now) const noexcept {
    const bool goes_on = last == idle_leave_ && now - last < quick_ticks_ && location.events.head == idle_head_ &&
                         location.shared().summary.phase_since <= last && (skipping_ == nullptr || pending() == 0);
    return goes_on ? last : now;
  }
  // To be called when it has ended and was committed.
  void end(const recorder::Location& location, const recorder::Call& call, bool is_idle) noexcept {
    idle_leave_ = is_idle ? call.leave : 0;
    idle_head_ = location.events.head;
  }
  // To be called after an untimed poll that found something. `last` as above.
  void end_streak(recorder::Location& location, Site& site, const recorder::Call& call, std::uint64_t last) noexcept;
  // To be called after a timed poll that was committed to `row`, where there is no trace. `last` and `now` as above.
  void note(recorder::Location& location, stack::PathMemo& paths, const stack::Frame& caller,
            const recorder::Call& call, format::ProfileRow& row, bool is_idle, std::uint64_t last,
            std::uint64_t now) noexcept;
  // From now on all polls are timed, until new streaks begin.
  void end_streaks() noexcept;
  // `clock_ticks`: what a reading of the clock adds to a time.
  void clear(std::uint64_t clock_ticks) noexcept;

 private:
  static constexpr unsigned slots = 32;

  Site sites_[slots];
  // Adds the time of the untimed polls up to `time` to the row of `site`. That is all time since the poll before them;
  // or, if the program did something else in between, as much as so many polls take, of which a timed one took `ticks`.
  // Returns whether it was all. `last`: the end of the thread's last timed call.
  bool settle(recorder::Location& location, const Site& site, std::uint64_t ticks, std::uint64_t last,
              std::uint64_t time) const noexcept;
  std::uint32_t pending() const noexcept { return skipping_->pending(); }

  Site* skipping_;             // the site with untimed polls, past or allowed; nullptr: none
  const Site* last_;           // of the last timed poll
  std::uint64_t idle_leave_;   // end of the last call, if that was an idle poll
  std::uint64_t idle_head_;    // the value of EventBuffer::head then
  std::uint64_t quick_ticks_;  // gap_ns; also the greatest distance, from end to end, of polls in quick succession
  std::uint64_t clock_ticks_;
};

}  // namespace tare::mpi
