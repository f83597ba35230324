// Which send belongs to which receive, and which calls are one collective operation.
//
// Rules: messages of a channel (communicator, source, destination, tag) are received in the order in which they were
// sent, by receives in the order in which they were posted, whatever these wait in. Source and tag of a receive with
// wildcards are those that its completion recorded. The n-th collective on a communicator, window or file is the same
// operation on all of its members. A matched probe (MPI_Mprobe) stands for the receive of its message.
//
// Not matched: messages between worlds; collectives of intercommunicators, neighbourhoods and persistent requests; what
// goes over communicators whose key is not known. From a gap in a rank's trace on, nothing of this rank. A cancelled
// receive takes no message; one that is freed after MPI_Cancel may have taken one, and is taken to have.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "reader/events/event_stream.h"
#include "reader/matching/message.h"
#include "reader/run/run.h"

namespace tare::reader {

// Holds what is in flight: messages that have not been sent, received and completed, collectives of which not all
// members have come. The run must outlive it. Not thread-safe.
class Matcher {
 public:
  // What is to be found; the rest costs nothing.
  struct Wanted {
    bool matches = true;  // messages() and collectives()
    bool ends = false;    // ends()
  };
  explicit Matcher(Run& run) : Matcher(run, Wanted{}) {}
  Matcher(Run& run, Wanted wanted);
  Matcher(Matcher&&) noexcept;
  ~Matcher();

  // All rows of a stream that lists all requests (EventFilter::lists_all_requests), in its order.
  void add(const EventRow& row);
  // No more is to come: what has no counterpart is handed over as it is.
  void finish();

  // What has been found since they were cleared, by the caller. A message is handed over when both ends are complete,
  // a collective when all members have completed it.
  std::vector<Message>& messages();
  std::vector<Collective>& collectives();
  // Both ends of each message, and those of collectives that wait for others: of a broadcast the others', of a
  // reduction the root's. Each is told once, at the row that made it known.
  std::vector<End>& ends();

  // Ranks from whose traces records are missing, as (world, rank) in words; what they did since is left out.
  const std::vector<std::string>& gaps() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tare::reader
