// The wait states of a trace, in one reading.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "reader/result.h"
#include "reader/run/run.h"
#include "reader/waits/wait_state.h"

namespace tare::reader {

// A thread whose wait ended when another one came: where the critical path goes over.
struct Handover {
  std::int64_t at_ns;     // end of the wait
  std::int64_t cause_ns;  // when the cause began its call, by its own clock
  std::uint32_t cause;    // index in threads()
};

// A thread of a rank.
struct TracedThread {
  std::int32_t world = 0, rank = -1;
  std::uint32_t thread = 0;
  std::vector<Handover> handovers{};  // in their order
};

// Holds what is in flight, of each thread the last calls, and 24 bytes for each wait. The run must outlive it. Not
// thread-safe. docs/analyses.md names the source of each definition.
class WaitStates {
 public:
  // Fails as EventStream::open() does.
  static Result<WaitStates> open(Run& run);
  WaitStates(WaitStates&&) noexcept;
  ~WaitStates();

  // The next ones, in the order in which they were found; none at the end.
  std::vector<WaitState> next();
  // Lines about what could not be read or matched, complete at the end.
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
