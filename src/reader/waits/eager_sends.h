// Which sends are eager: MPI buffers their message, so that they do not wait for its receive. The standard leaves this
// to the library. The trace shows it: a send that ended before its receive was posted did not wait for that.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>

#include "format/function_meaning.h"
#include "reader/matching/message.h"

namespace tare::reader {

// By sender, receiver and function, the largest message that was eager. Smaller ones are taken to be eager, too.
class EagerSends {
 public:
  // `end`: of a send. To be called with all sends.
  void learn(const End& end) {
    if (end.completed.leave_ns >= end.other.enter_ns || end.bytes == format::no_bytes) return;
    Known& known = known_[key_of(end)];
    known.is_any = true;
    known.largest = std::max(known.largest, end.bytes);
  }
  bool has(const End& end) const {
    const auto found = known_.find(key_of(end));
    return found != known_.end() && found->second.is_any && end.bytes <= found->second.largest;
  }
  // A wait for a receiver was found. If later sends show that it was none, it has been misjudged.
  void suspect(const End& end) {
    Known& known = known_[key_of(end)];
    known.smallest_suspect = std::min(known.smallest_suspect, end.bytes);
  }
  bool has_misjudged() const {
    return std::any_of(known_.begin(), known_.end(), [](const auto& each) {
      return each.second.is_any && each.second.smallest_suspect <= each.second.largest;
    });
  }
  void forget_suspects() {
    for (auto& [key, known] : known_) known.smallest_suspect = UINT64_MAX;
  }

 private:
  struct Known {
    bool is_any = false;
    std::uint64_t largest = 0, smallest_suspect = UINT64_MAX;
  };
  using Key = std::tuple<std::int32_t, std::int32_t, std::int32_t, std::uint16_t>;
  static Key key_of(const End& end) { return {end.world, end.rank, end.other_rank, end.posted.function}; }

  std::map<Key, Known> known_;
};

}  // namespace tare::reader
