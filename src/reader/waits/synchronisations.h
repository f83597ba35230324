// When threads last synchronised with one another. What a thread did before that cannot have kept the other one
// waiting.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

namespace tare::reader {

// A synchronisation of two threads: the numbers of the two calls in their threads.
struct Synchronisation {
  std::uint64_t own = 0, other = 0;
};

// The synchronisations of one thread with others. The caller numbers the threads.
class Synchronisations {
 public:
  void add_message(std::uint32_t other, const Synchronisation& at) {
    LastTwo& of = messages_[other];
    // A call may receive several messages of the other thread. They count as one.
    if (of.last && of.last->own != at.own) of.before = of.last;
    of.last = at;
  }
  // `call` is the next collective operation of the thread on a communicator that makes all its members wait.
  void add_collective(std::int32_t communicator, std::uint64_t call) {
    Collectives& of = collectives_[communicator];
    of.calls[of.count++ % kept] = call;
  }

  // The last synchronisation before these calls, if one is known.
  std::optional<Synchronisation> last(std::uint32_t other, const Synchronisations& of_other,
                                      const Synchronisation& before) const {
    std::optional<Synchronisation> last;
    const auto found = messages_.find(other);
    if (found != messages_.end())
      for (const auto& at : {found->second.before, found->second.last})
        if (at && at->own < before.own && at->other < before.other) last = at;
    for (const auto& [communicator, own] : collectives_) {
      const auto its = of_other.collectives_.find(communicator);
      if (its == of_other.collectives_.end()) continue;
      const Collectives& theirs = its->second;
      const std::uint64_t both = own.count < theirs.count ? own.count : theirs.count;
      for (std::uint64_t back = 0; back < kept && back < both; ++back) {
        const std::uint64_t number = both - 1 - back;
        if (number + kept < own.count || number + kept < theirs.count) break;
        const Synchronisation at{own.calls[number % kept], theirs.calls[number % kept]};
        if (at.own >= before.own || at.other >= before.other) continue;
        if (!last || at.own > last->own) last = at;
        break;
      }
    }
    return last;
  }

 private:
  static constexpr std::uint64_t kept = 4;
  struct Collectives {
    std::array<std::uint64_t, kept> calls{};
    std::uint64_t count = 0;
  };

  struct LastTwo {
    std::optional<Synchronisation> last, before;
  };

  std::unordered_map<std::uint32_t, LastTwo> messages_;
  std::map<std::int32_t, Collectives> collectives_;  // by communicator
};

}  // namespace tare::reader
