// Reads all wait states of a run.
#pragma once

#include <atomic>

#include "reader/waits/wait_states.h"

namespace tare::reader {

// Calls what `make` returns with each wait state. If some were misjudged, it begins anew: with a new consumer of
// `make`, and with what is known of eager sends by then. Another thread may set `stop`.
template <class Make>
Result<WaitStates> read_waits(Run& run, const Make& make, const std::atomic<bool>& stop = false) {
  EagerSends eager;
  while (true) {
    auto states = WaitStates::open(run, eager);
    if (!states) return states.failure();
    auto consume = make();
    for (auto some = states->next(); !stop && !some.empty(); some = states->next())
      for (const WaitState& wait : some) consume(wait);
    if (stop || !states->eager().has_misjudged()) return states;
    eager = states->eager();
  }
}

}  // namespace tare::reader
