// Finds which send belongs to which receive, and which calls belong to one collective operation.
//
// Rules: messages of a channel (communicator, source, destination, tag) are received in the order in which they were
// sent, by receives in the order in which they were posted, whichever calls complete these. A receive with wildcards
// has the source and tag that its completion recorded. The n-th collective on a communicator, window or file is the
// same operation on all of its members. A matched probe (MPI_Mprobe) counts as the receive of its message.
//
// The n-th exposure epoch of a window whose group has an origin is that of the n-th access epoch of the origin whose
// group has the target. The origin is in a call when its target posts the epoch (Kind::posted); the target, when the
// origin completes its own, after what it accessed (accessed) or long after that (completed). Locks of a rank exclude
// one another if one of them is exclusive; another rank is in a call when one unlocks, and has the lock after that
// (unlocked). A rank is in a call that needs another one, which is in no call until its next one (progress).
//
// Not matched: messages between worlds; collectives of intercommunicators, neighbourhoods and persistent requests;
// anything on communicators whose key is not known; anything of a rank after a gap in its trace, except if the gap ends
// with a spell (trace_gaps.h). A cancelled receive takes no message. A receive that is freed after MPI_Cancel is
// assumed to have taken one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "reader/events/event_stream.h"
#include "reader/matching/message.h"
#include "reader/run/run.h"

namespace tare::reader {

// Keeps incomplete messages, and collectives with missing members, in memory. The run must outlive it. Not thread-safe.
class Matcher {
 public:
  // What to find. What is not wanted costs no time.
  struct Wanted {
    bool matches = true;  // messages() and collectives()
    bool ends = false;    // ends()
  };
  explicit Matcher(Run& run) : Matcher(run, Wanted{}) {}
  Matcher(Run& run, Wanted wanted);
  Matcher(Matcher&&) noexcept;
  ~Matcher();

  // To be called with all rows of a stream with EventFilter::lists_all_requests, in order.
  void add(const EventRow& row);
  // To be called at the end of the trace: appends what has no counterpart as it is.
  void finish();

  // The results since the caller last cleared these vectors. A message is appended when both ends are complete, a
  // collective when all members have completed it.
  std::vector<Message>& messages();
  std::vector<Collective>& collectives();
  // Both ends of each message, and for collectives the ends of the ranks that wait: for a broadcast all but the root,
  // for a reduction the root. Each end is appended once, while the row is added that makes it known.
  std::vector<End>& ends();

  // Lines of text: one for each rank with missing records, whose later communication is left out, and one if messages
  // of some channels are not matched after gaps (crossing_channels.h).
  std::vector<std::string> warnings() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tare::reader
