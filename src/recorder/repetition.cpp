#include "recorder/repetition.h"

#include <algorithm>

namespace tare::recorder {
namespace {

constexpr std::uint64_t observed_ns = 1'000'000'000;  // or Rhythm::most calls
constexpr std::uint64_t observed_calls = 64;          // at least
// Of a program that does not repeat. Long enough that a spell may begin anywhere in its bursts of calls.
constexpr std::uint64_t without_period = 61;

}  // namespace

void Repetition::note(std::uint32_t site, std::uint64_t calls, std::uint64_t now_ns, bool is_clear) noexcept {
  if (noted_ == 0) {
    begin_ns_ = now_ns;
    begin_calls_ = calls;
  }
  rhythm_.add(site, calls, now_ns);
  if (is_clear) clear_calls_ = calls;
  const std::uint64_t ns = now_ns - begin_ns_, made = calls - begin_calls_;
  if (++noted_ < observed_calls || (noted_ < Rhythm::most && ns < observed_ns)) return;
  const std::uint64_t found = rhythm_.period();
  period_ = found == 0 ? without_period : found;
  mean_ns_ = ns * period_ / std::max<std::uint64_t>(made, 1);
  origin_ = clear_calls_ != 0 ? clear_calls_ : calls;
}

std::uint64_t Repetition::next(std::uint64_t calls) const noexcept {
  const std::uint64_t since = calls - origin_;
  return origin_ + (since + period_ - 1) / period_ * period_;
}

bool Repetition::is_at_place(std::uint64_t calls, bool is_clear) noexcept {
  if (!is_clear && clear_calls_ != 0) {
    if (++tried_ < period_) return false;
    clear_calls_ = 0;  // there is none
  }
  if (tried_ != 0) origin_ = calls;
  tried_ = 0;
  return true;
}

}  // namespace tare::recorder
