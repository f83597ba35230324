// The sender's side of the numbering. Messages of a channel are numbered in the order of the calls that send them. By
// MPI's rule of order, they match in this order.
//
// Calls of different threads that overlap in time on one channel have no order, so their numbers are ambiguous. A busy
// period is a time in which at least one such call is under way. If it has more than one message, all of them are
// ambiguous.
//
// Not thread-safe: the sampler locks.
#pragma once

#include "mpi/sampling/mailbox.h"
#include "mpi/sampling/mapped_memory.h"

namespace tare::mpi::sampling {

struct SendChannel {
  std::uint32_t communicator;  // number in this process
  std::int32_t peer;           // rank in it
  std::int32_t tag;
  std::int32_t destination;  // rank in MPI_COMM_WORLD
  std::uint64_t id;          // channel_of(); 0: both sides cannot compute the same
  std::uint64_t count;       // messages so far
  std::uint64_t busy_since;  // number of the first message of the busy period
  Mailbox* mailbox;          // to the destination, on this node; nullptr: none yet
  std::uint32_t place;       // 1 + the destination's place on this node; 0: it is on another
  std::uint32_t inside;      // calls under way
  std::uint32_t start;       // the last call that started a send of the channel and others (Sampler::next_start)
  bool busy_chosen;          // the first message of the busy period was chosen, and its record passed on
};

class Sends {
 public:
  static constexpr std::uint32_t capacity = 1U << 18;

  // The channel if it was found lately, else nullptr.
  SendChannel* recent(std::uint32_t communicator, std::int32_t peer, std::int32_t tag) const noexcept {
    return memo_.find(communicator, peer, tag);
  }
  // The channel; nullptr if it is new.
  SendChannel* find(std::uint32_t communicator, std::int32_t peer, std::int32_t tag) noexcept {
    if (SendChannel* channel = recent(communicator, peer, tag)) return channel;
    const std::uint32_t place = index_.find(hash(communicator, peer, tag), [&](std::uint32_t at) {
      const SendChannel& c = channels_[at];
      return c.communicator == communicator && c.peer == peer && c.tag == tag;
    });
    if (place == 0) return nullptr;
    memo_.note(communicator, peer, tag, channels_[place]);
    return &channels_[place];
  }
  // The channel of a request's sends; nullptr if it is new.
  [[gnu::always_inline]] SendChannel* recall(KnownChannel<SendChannel>& known, std::uint32_t communicator,
                                             std::int32_t peer, std::int32_t tag) noexcept {
    if (known.generation != generation_) [[unlikely]]
      known = look_up(communicator, peer, tag);
    return known.channel;
  }
  // Adds a channel; nullptr if there is no room.
  SendChannel* add(const SendChannel& channel) noexcept {
    const std::uint32_t place = channels_.take();
    if (place == 0) return nullptr;
    channels_[place] = channel;
    if (index_.put(hash(channel.communicator, channel.peer, channel.tag), place)) return &channels_[place];
    channels_.give_back(place);
    return nullptr;
  }
  template <class Each>
  void for_each(Each each) noexcept {
    for (std::uint32_t place = 1; place <= channels_.last(); ++place)
      if (channels_.taken(place)) each(channels_[place]);
  }

  // The communicator was freed.
  void remove(std::uint32_t communicator) noexcept {
    memo_.clear();
    ++generation_;
    for (std::uint32_t place = 1; place <= channels_.last(); ++place) {
      const SendChannel& c = channels_[place];
      if (!channels_.taken(place) || c.communicator != communicator || c.inside != 0) continue;
      index_.remove(hash(c.communicator, c.peer, c.tag), place);
      channels_.give_back(place);
    }
  }

  // A call begins to send on the channel. Returns the number of its message. `overlaps`: the busy period has another
  // message.
  static std::uint64_t begin(SendChannel& channel, bool& overlaps) noexcept {
    overlaps = channel.inside++ != 0;
    const std::uint64_t number = ++channel.count;
    if (!overlaps) {
      channel.busy_since = number;
      channel.busy_chosen = false;
    }
    return number;
  }
  // The call has returned. True if its message is ambiguous.
  static bool end(SendChannel& channel) noexcept {
    --channel.inside;
    return channel.count != channel.busy_since;
  }

 private:
  [[gnu::noinline]] KnownChannel<SendChannel> look_up(std::uint32_t communicator, std::int32_t peer,
                                                      std::int32_t tag) noexcept {
    SendChannel* channel = find(communicator, peer, tag);
    return {channel, channel == nullptr ? 0 : generation_};
  }
  static std::uint64_t hash(std::uint32_t communicator, std::int32_t peer, std::int32_t tag) noexcept {
    const std::uint64_t h =
        (std::uint64_t{communicator} << 32 | static_cast<std::uint32_t>(tag)) * 0x9e3779b97f4a7c15U +
        static_cast<std::uint32_t>(peer) * 0xc2b2ae3d27d4eb4fU;
    return h >> 32;
  }

  Places<SendChannel> channels_{capacity};
  PlaceIndex index_;
  ChannelMemo<SendChannel> memo_;
  std::uint32_t generation_ = 1;
};

}  // namespace tare::mpi::sampling
