// Finds the wait states of a trace in one pass.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "reader/result.h"
#include "reader/run/run.h"
#include "reader/waits/eager_sends.h"
#include "reader/waits/unexpected.h"
#include "reader/waits/wait_state.h"

namespace tare::reader {

// The end of a wait of a thread: here the critical path continues with the thread that was waited for.
struct Handover {
  std::int64_t at_ns;     // end of the wait
  std::int64_t cause_ns;  // when the cause began its call
  std::uint32_t cause;    // index in threads()
};

// Time of a thread at a site.
struct SiteTimes {
  std::int64_t outside_ns = 0;                      // outside MPI before its calls
  std::int64_t descheduled_ns = 0, blocked_ns = 0;  // parts of it
  std::int64_t descheduled_in_calls_ns = 0;         // in calls, and not for another rank
};

// A thread of a rank.
struct TracedThread {
  std::int32_t world = 0, rank = -1;
  std::uint32_t thread = 0;
  std::vector<Handover> handovers{};  // in the order of its calls
  std::vector<SiteTimes> sites{};     // by site, plus 1
};

// Receives of a rank that waited for a message, while another had arrived that the rank received, and worked on, only
// afterwards.
struct WrongOrder {
  std::int32_t world = 0, rank = -1;
  std::uint16_t function = 0;
  std::int32_t site = -1;
  std::uint64_t waits = 0;
  std::int64_t time_ns = 0;  // of the waits: what the rank could have worked meanwhile
};

// Keeps incomplete messages and collectives, the last calls of each thread, and 24 bytes for each wait in memory. The
// run must outlive it. Not thread-safe. docs/analyses.md names the source of each definition.
class WaitStates {
 public:
  // `eager`: sends that are known to be eager. Fails as EventStream::open() does.
  static Result<WaitStates> open(Run& run, EagerSends eager = {});
  WaitStates(WaitStates&&) noexcept;
  ~WaitStates();

  // The next wait states, in the order in which they were found; empty at the end.
  std::vector<WaitState> next();
  // Warnings about what could not be read or matched; complete at the end.
  std::vector<std::string> warnings() const;

  // Complete at the end:
  std::vector<WrongOrder> wrong_order() const;  // largest first
  std::vector<UnexpectedSum> unexpected() const;
  // The known sends, and those of this reading. If they have misjudged a wait, the trace is to be read again with them.
  const EagerSends& eager() const;
  const std::vector<ClockViolation>& violations() const;
  // The function that is called at a site; 0 if the trace has no such call.
  std::uint16_t function_at(std::int32_t site) const;
  const std::vector<TracedThread>& threads() const;

 private:
  struct State;
  explicit WaitStates(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tare::reader
