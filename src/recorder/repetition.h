// Where a program does again what it did before: after how many calls, and at which of them no request is under way.
// For spells of equal time (spells.h), which must not begin in the middle of an iteration in one kind of spell and at
// its end in the other.
#pragma once

#include <cstdint>

#include "recorder/rhythm.h"

namespace tare::recorder {

// Zero-initialised.
class Repetition {
 public:
  // To be called after each call until it is known, which takes up to a second of the program. `site`: of the call;
  // `calls`: how many have been made; `now_ns`: the time; `is_clear`: no request is under way.
  void note(std::uint32_t site, std::uint64_t calls, std::uint64_t now_ns, bool is_clear) noexcept;
  bool is_known() const noexcept { return period_ != 0; }
  // It must be known from here on.
  // The least number of calls from `calls` on at which the program is where it was some repetitions before.
  std::uint64_t next(std::uint64_t calls) const noexcept;
  // Whether the program is there, after `calls` calls. An extra call moves its repetitions: if requests are under way
  // (not `is_clear`), but none were before at this place, it must be asked after each call, and the place moves.
  bool is_at_place(std::uint64_t calls, bool is_clear) noexcept;
  // What a repetition lasts.
  std::uint64_t mean_ns() const noexcept { return mean_ns_; }
  std::uint64_t period() const noexcept { return period_; }

  void reset() noexcept {
    rhythm_.reset();
    noted_ = clear_calls_ = period_ = tried_ = 0;
  }

 private:
  Rhythm rhythm_;
  std::uint64_t noted_, begin_ns_, begin_calls_;
  std::uint64_t clear_calls_;  // made at the last call after which no request was under way; 0: there was none
  std::uint64_t period_, mean_ns_, origin_;
  std::uint64_t tried_;  // calls after which it was not at its place
};

}  // namespace tare::recorder
