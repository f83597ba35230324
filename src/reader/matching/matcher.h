// Which send belongs to which receive, and which calls are one collective operation.
//
// Rules: messages of a channel (communicator, source, destination, tag) are received in the order in which they were
// sent, by receives in the order in which they were posted, whichever calls complete these. A receive with wildcards
// has the source and tag that its completion recorded. The n-th collective on a communicator, window or file is the
// same operation on all of its members. A matched probe (MPI_Mprobe) counts as the receive of its message.
//
// Not matched: messages between worlds; collectives of intercommunicators, neighbourhoods and persistent requests;
// anything on communicators whose key is not known; anything of a rank after a gap in its trace. A cancelled receive
// takes no message. A receive that is freed after MPI_Cancel may have taken one, and is assumed to have.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "reader/events/event_stream.h"
#include "reader/matching/message.h"
#include "reader/run/run.h"

namespace tare::reader {

// Holds what is in flight: incomplete messages, and collectives with missing members. The run must outlive it. Not
// thread-safe.
class Matcher {
 public:
  // What to find; the rest costs nothing.
  struct Wanted {
    bool matches = true;  // messages() and collectives()
    bool ends = false;    // ends()
  };
  explicit Matcher(Run& run) : Matcher(run, Wanted{}) {}
  Matcher(Run& run, Wanted wanted);
  Matcher(Matcher&&) noexcept;
  ~Matcher();

  // To be called with all rows of a stream that lists all requests (EventFilter::lists_all_requests), in order.
  void add(const EventRow& row);
  // The trace has ended. What has no counterpart is appended as it is.
  void finish();

  // The results since the caller has cleared them. A message is appended when both ends are complete, a collective when
  // all members have completed it.
  std::vector<Message>& messages();
  std::vector<Collective>& collectives();
  // Both ends of each message, and the ends of collectives that wait for others: for a broadcast those of the others,
  // for a reduction that of the root. Each is appended once, at the row by which it became known.
  std::vector<End>& ends();

  // Ranks with missing records, as (world, rank) in words. What they did afterwards is left out.
  const std::vector<std::string>& gaps() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tare::reader
