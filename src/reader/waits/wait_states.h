// Finds the wait states of a trace in one pass.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "reader/result.h"
#include "reader/run/run.h"
#include "reader/waits/wait_state.h"

namespace tare::reader {

// The end of a wait of a thread: here the critical path continues with the thread that was waited for.
struct Handover {
  std::int64_t at_ns;     // end of the wait
  std::int64_t cause_ns;  // when the cause began its call
  std::uint32_t cause;    // index in threads()
};

// A thread of a rank.
struct TracedThread {
  std::int32_t world = 0, rank = -1;
  std::uint32_t thread = 0;
  std::vector<Handover> handovers{};  // in the order of its calls
};

// Keeps incomplete messages and collectives, the last calls of each thread, and 24 bytes for each wait in memory. The
// run must outlive it. Not thread-safe. docs/analyses.md names the source of each definition.
class WaitStates {
 public:
  // Fails as EventStream::open() does.
  static Result<WaitStates> open(Run& run);
  WaitStates(WaitStates&&) noexcept;
  ~WaitStates();

  // The next wait states, in the order in which they were found; empty at the end.
  std::vector<WaitState> next();
  // Warnings about what could not be read or matched; complete at the end.
  std::vector<std::string> warnings() const;

  // Complete at the end:
  std::vector<DelaySum> delays() const;  // largest first
  const std::vector<ClockViolation>& violations() const;
  const std::vector<TracedThread>& threads() const;

 private:
  struct State;
  explicit WaitStates(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tare::reader
