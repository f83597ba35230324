// Pairs the sends and receives of a trace. matcher.h states the rules.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "reader/events/event_stream.h"
#include "reader/matching/channels.h"
#include "reader/matching/crossing_channels.h"
#include "reader/matching/message.h"
#include "reader/matching/posted_receives.h"
#include "reader/matching/trace_gaps.h"
#include "reader/model/by_rank.h"
#include "reader/run/run.h"

namespace tare::reader {

// What a call or request sends or receives.
struct Transfer {
  std::int32_t communicator, peer, peer_world, tag;
  std::uint64_t bytes;
  std::uint32_t epoch = 0;  // of the rank; see Channel::epoch
};

// Holds the messages with one end missing or incomplete. Not thread-safe.
class MessageMatcher {
 public:
  // Refers to one end of a message, until both ends are complete.
  using Slot = std::uint32_t;
  static constexpr Slot none = UINT32_MAX;

  // The receives of a rank whose order matters for later ones.
  struct Receives {
    PostedReceives posted;
    std::unordered_map<Channel, std::deque<Slot>, ChannelHash> probed;  // matched by MPI_Mprobe, not received yet
  };

  // Found messages and ends are appended to the vectors; nullptr: they are not wanted. All arguments must outlive the
  // object.
  MessageMatcher(Run& run, const TraceGaps& gaps, std::vector<Message>* messages, std::vector<End>* ends);

  // These return `none` if the message cannot be matched: to or from MPI_PROC_NULL, or on an unknown communicator.
  Slot send(const EventRow& row, const PartCall& call, const Transfer& of);
  Slot receive(Receives& receives, const EventRow& row, const PartCall& call, const Transfer& of, bool is_complete);
  // The receive of MPI_Sendrecv and similar functions. It has taken its message even if the trace has no completion of
  // it.
  Slot receive_of_exchange(Receives& receives, const EventRow& row, const PartCall& call, const Transfer& of,
                           bool is_complete);
  // A call that may be a matched probe, which counts as the receive of its message.
  void probe(Receives& receives, const EventRow& row, const PartCall& call, std::uint32_t epoch);

  // These do nothing if `slot` is none.
  void complete(Slot slot, const PartCall& call);
  void complete_receive(Receives& receives, Slot slot, const EventRequest& request, const PartCall& call);
  // For a request that was freed, so that its completion is not in the trace.
  void complete_unseen(Slot slot);
  // A rank calls MPI_Cancel. The trace does not say for which request. `under_way`: the incomplete receives of the
  // rank. Each of them may be cancelled; its message then belongs to the next receive of the channel. So later receives
  // on the same channels are kept back until these are complete.
  void may_cancel(std::vector<Slot> under_way);

  // See CrossingChannels::left_out().
  std::size_t left_out_channels() const { return crossing_.left_out(); }

  // To be called after the last event of a rank.
  void finish(Receives& receives);
  // To be called at the end of the trace: appends what has no counterpart as it is.
  void finish();

 private:
  struct Half {
    Part part;
    Channel channel{};
    std::int32_t world = 0;
    Slot other = none;
    std::uint64_t order = 0;  // for a receive: increases in the order in which receives get their places on channels
    Direction direction = Direction::sent;
    bool is_open = false;      // a receive whose channel is not known
    bool is_exchange = false;  // completes together with a send, possibly without a record of its own
    bool is_reported = false;  // its End was appended
  };
  // The receives of a channel in the order of posting, from the oldest one that may have been cancelled.
  using Cancellable = std::deque<Slot>;

  bool is_known(std::int32_t communicator) const {
    return communicator >= 0 && run_.communicators()[static_cast<std::size_t>(communicator)].key != 0;
  }
  Slot make(const EventRow& row, const PartCall& call, const Channel& channel, Direction direction);
  void free(Slot slot) {
    halves_[slot].part.rank = -1;
    free_slots_.push_back(slot);
  }
  Slot receive_probed(Receives& receives, const EventRow& row, const Transfer& of);
  void pair(Slot slot);
  bool crosses(Slot slot);
  void join(Slot slot, Slot other);
  void part(Slot slot);
  bool is_held(Slot slot) const;
  // How many messages to a rank were sent before a receive for them was posted; and how many posted receives may take
  // any of them. While there are such receives, the first number is not known.
  struct Queue {
    std::uint32_t epoch = 0, messages = 0, open = 0;
  };
  Queue& queue_of(const Half& of, std::int32_t rank);
  void close(const Half& open);
  void hand_over_if_complete(Slot slot);
  void hand_over(Slot slot);
  void add_end(Slot slot);
  bool cancel(Slot slot);
  void settle(const Channel& channel);
  // Called by PostedReceives for a receive whose channel has become known.
  auto on_known_channel() {
    return [this](Slot slot, const Pattern& pattern) {
      close(halves_[slot]);
      halves_[slot].is_open = false;
      halves_[slot].channel.source = pattern.source;
      halves_[slot].channel.tag = pattern.tag;
      pair(slot);
    };
  }

  Run& run_;
  const TraceGaps& gaps_;
  CrossingChannels crossing_;
  std::vector<Message>* messages_;
  std::vector<End>* ends_;
  std::vector<Half> halves_;
  std::vector<Slot> free_slots_;
  Channels<Slot> channels_;
  ByRank<Queue> queues_;
  Queue damaged_;  // of numbers that are no ranks
  std::unordered_map<Channel, Cancellable, ChannelHash> cancellable_;
  std::uint64_t last_order_ = 0;
};

}  // namespace tare::reader
