// When threads last synchronised with one another: before that, neither can have kept the other waiting.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

namespace tare::reader {

// Calls of two threads in which they met, by their numbers.
struct Meeting {
  std::uint64_t own = 0, other = 0;
};

// Those of one thread with others, which are numbered by the caller.
class Meetings {
 public:
  void meet(std::uint32_t other, const Meeting& at) {
    Both& of = with_[other];
    // A call may receive several messages of the other.
    if (of.last && of.last->own != at.own) of.before = of.last;
    of.last = at;
  }
  // It has taken part in collective operation `number` of a communicator.
  void take_part(std::int32_t communicator, std::uint64_t call) {
    Together& of = together_[communicator];
    of.calls[of.count++ % kept] = call;
  }

  // The last before these calls, if any is known.
  std::optional<Meeting> last(std::uint32_t other, const Meetings& of_other, const Meeting& before) const {
    std::optional<Meeting> last;
    const auto found = with_.find(other);
    if (found != with_.end())
      for (const auto& at : {found->second.before, found->second.last})
        if (at && at->own < before.own && at->other < before.other) last = at;
    for (const auto& [communicator, own] : together_) {
      const auto its = of_other.together_.find(communicator);
      if (its == of_other.together_.end()) continue;
      const Together& theirs = its->second;
      const std::uint64_t both = own.count < theirs.count ? own.count : theirs.count;
      for (std::uint64_t back = 0; back < kept && back < both; ++back) {
        const std::uint64_t number = both - 1 - back;
        if (number + kept < own.count || number + kept < theirs.count) break;
        const Meeting at{own.calls[number % kept], theirs.calls[number % kept]};
        if (at.own >= before.own || at.other >= before.other) continue;
        if (!last || at.own > last->own) last = at;
        break;
      }
    }
    return last;
  }

 private:
  static constexpr std::uint64_t kept = 4;
  struct Together {
    std::array<std::uint64_t, kept> calls{};
    std::uint64_t count = 0;
  };

  struct Both {
    std::optional<Meeting> last, before;
  };

  std::unordered_map<std::uint32_t, Both> with_;
  std::map<std::int32_t, Together> together_;  // by communicator
};

}  // namespace tare::reader
