// Which message a call has sent and which it has received. Both ends get the same number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "reader/events/event_filter.h"
#include "reader/events/event_stream.h"
#include "reader/matching/call_role.h"
#include "reader/matching/channels.h"
#include "reader/run/run.h"

namespace tare::exporters {

// Numbers of messages, never 0.
struct Flows {
  std::vector<std::uint64_t> sent, received;
  bool empty() const { return sent.empty() && received.empty(); }
  void clear() {
    sent.clear();
    received.clear();
  }
};

// Pairs messages by MPI's rules of order (reader/matching), already when calls begin; reader::Matcher knows a message
// only when both ends are complete. Of the messages with one communicator, sender, receiver and tag, the n-th that is
// sent is the n-th that is received. Receives count when they are posted. Receives from any source or with any tag
// count when they complete, which is the same unless they overtake others that wait for the same channel. After a loss
// nothing is known, and a receive that is cancelled takes no message: traces with gaps, and of programs that cancel,
// need MatchedEnds.
class MessageFlows {
 public:
  // For the ranks that the filter wants. The run must outlive it.
  MessageFlows(reader::Run& run, const reader::EventFilter& filter);

  // The message that the call has sent, and the one that it has received. To be called with all rows of the run in
  // order.
  void find(const reader::EventRow& row, Flows& flows);
  // Calls are missing from now on.
  void lose() { obstacle_ = "calls were lost"; }
  // The reason why messages are missing, from some row on; empty if none is.
  const std::string& obstacle() const { return obstacle_; }

 private:
  struct Transfer {
    std::int32_t communicator, peer, peer_world, tag;
    std::uint32_t request;
  };
  // A receive under way: the number of its message; 0 if that is not known yet.
  struct Posted {
    std::uint64_t message;
    std::int32_t communicator;
  };

  bool is_known(const Transfer& of) const;
  std::uint64_t number(const reader::Channel& channel, reader::Direction direction);
  void send(const reader::EventRow& row, const Transfer& of, Flows& flows);
  void receive(const reader::EventRow& row, const Transfer& of, Flows& flows);
  void start(const reader::EventRow& row, const Transfer& of, std::uint64_t bytes, Flows& flows);
  void complete(const reader::EventRow& row, const reader::EventRequest& request, Flows& flows);

  const reader::Run& run_;
  std::optional<std::unordered_set<std::int32_t>> ranks_;
  std::vector<reader::CallRole> roles_;
  reader::Channels<std::uint64_t> channels_;  // numbers of messages with one end so far
  std::uint64_t last_ = 0;
  std::vector<std::unordered_map<std::uint64_t, Posted>> posted_;  // by process; by thread and request
  std::string obstacle_;
};

}  // namespace tare::exporters
