// Numbers the messages of each channel on the receiver's side. Of the receives that take messages of a channel, in the
// order of posting, the k-th takes the k-th message of the channel (README.md has the proof). So a receive gets
// its number as soon as it is known, for every receive posted before it, whether that one takes a message of the
// channel.
//
// A receive with a definite source and tag takes one, unless it is cancelled. If no earlier receive is open, it gets
// its number when it is posted. A receive with a wildcard, or whose cancellation was asked for, is *open* until it
// completes. Later receives whose patterns overlap with it wait in a queue of their communicator.
//
// Not thread-safe: the sampler locks.
#pragma once

#include "format/request_table.h"
#include "mpi/sampling/mapped_memory.h"
#include "mpi/sampling/receive_channel.h"

namespace tare::mpi::sampling {

inline constexpr std::int32_t any = -1;  // source or tag, as in format/record.h

// A receive that has its number when it is posted is stored as one word: this bit, the place of its channel, and the
// lowest bits of the number. These tell all receives apart that can be under way. Any other receive is stored as its
// place in the table of receives, which is smaller than this bit.
inline constexpr std::uint32_t numbered_bit = 1U << 30;
inline constexpr unsigned number_bits = 14;
static_assert(format::request_capacity <= 1U << number_bits);

// What a receive accepts.
struct Pattern {
  std::int32_t source;
  std::int32_t tag;

  bool definite() const noexcept { return source != any && tag != any; }
  bool covers(std::int32_t s, std::int32_t t) const noexcept {
    return (source == any || source == s) && (tag == any || tag == t);
  }
  bool overlaps(const Pattern& other) const noexcept {
    return (source == any || other.source == any || source == other.source) &&
           (tag == any || other.tag == any || tag == other.tag);
  }
};

// A receive, from its posting until its number is known and it has completed.
struct Receive {
  std::uint32_t channel;  // 0: not known yet
  std::uint32_t queue;
  std::uint32_t before, behind;  // neighbours in the queue, if listed
  Pattern pattern;
  std::uint64_t number;  // 0: not known yet
  std::uint64_t order;   // of posting; see post()
  std::uint64_t posted;  // ticks
  std::uint64_t waited;  // begin of the call that completed it, in ticks
  std::uint64_t ended;   // ticks
  std::uint64_t bytes;
  std::uint32_t site;
  bool listed;     // in the queue
  bool open;       // may take a message of any channel that its pattern matches, or none
  bool matched;    // its channel is certain
  bool completed;  // its message has arrived
  bool ambiguous;  // posted at the same time as another that may take the same message
  bool dropped;    // its completion will not be reported
};

// The receives of a communicator that wait for their numbers, and those that were lost.
struct ReceiveQueue {
  Endpoint endpoint;
  std::uint32_t first, last;  // of the list, in order of posting
  std::uint32_t lost_patterns;
  Pattern lost[6];  // patterns of receives that may have taken a message or not
};

class ReceivedRing;

class Receives {
 public:
  static constexpr std::uint32_t channel_capacity = 1U << 18;
  static constexpr std::uint32_t receive_capacity = 1U << 16;
  static constexpr std::uint32_t queue_capacity = 1U << 16;

  // The queue of a communicator; 0 if there is no room.
  std::uint32_t queue_of(const Endpoint& endpoint) noexcept;

  // The channel if it was found lately and no receive waits for its number; else nullptr.
  ReceiveChannel* recent(std::uint32_t communicator, std::int32_t source, std::int32_t tag) const noexcept {
    return listed_ == 0 ? memo_.find(communicator, source, tag) : nullptr;
  }
  void note(ReceiveChannel& channel) noexcept {
    memo_.note(channel.communicator, channel.source, channel.tag, channel);
  }

  // The channel of a request's receives, if no receive waits for its number. Else, or if the channel is new, nullptr.
  [[gnu::always_inline]] ReceiveChannel* recall(KnownChannel<ReceiveChannel>& known, std::uint32_t communicator,
                                                const Pattern& pattern) noexcept {
    if (known.generation != generation_) [[unlikely]]
      known = look_up(communicator, pattern);
    return listed_ == 0 ? known.channel : nullptr;
  }

  // The numbers of all messages are lost, also of those on communicators that are still to come.
  void lose_numbers() noexcept;

  // The place of a channel in the table; 0 if it is new.
  std::uint32_t find_channel(std::uint32_t communicator, std::int32_t source, std::int32_t tag) const noexcept {
    return channel_index_.find(hash(communicator, source, tag), [&](std::uint32_t place) {
      const ReceiveChannel& c = channels_[place];
      return c.communicator == communicator && c.source == source && c.tag == tag;
    });
  }
  // The place of the channel with that identifier; 0 if there is none.
  std::uint32_t find_channel(std::uint64_t id) const noexcept {
    return named_index_.find(id, [&](std::uint32_t place) { return channels_[place].id == id; });
  }
  // The place of a new channel; 0 if there is no room.
  std::uint32_t add_channel(const ReceiveChannel& channel) noexcept;

  ReceiveChannel& channel(std::uint32_t place) noexcept { return channels_[place]; }
  std::uint32_t place_of(const ReceiveChannel& channel) const noexcept { return channels_.place_of(channel); }
  template <class Each>
  void for_each_channel(Each each) noexcept {
    for (std::uint32_t place = 1; place <= channels_.last(); ++place)
      if (channels_.taken(place)) each(channels_[place]);
  }
  Receive& operator[](std::uint32_t place) noexcept { return receives_[place]; }

  const Endpoint& endpoint(std::uint32_t queue) const noexcept { return queues_[queue].endpoint; }

  // Whether receives of the communicator wait for their numbers.
  bool has_waiting(std::uint32_t queue) const noexcept { return queues_[queue].first != 0; }

  // Posts a receive. `channel` is that of a definite pattern, else 0. `ticks` is the time, or 0 if number() is not
  // used. Returns the place of the receive. 0 if there is no room: then the numbers of all channels that its pattern
  // matches are lost.
  std::uint32_t post(std::uint32_t queue, const Pattern& pattern, std::uint32_t channel, std::uint64_t ticks) noexcept;

  // Numbers a definite receive when it is posted, which is possible if no receive waits for its number. The caller
  // keeps the number, and reports the completion. Returns the number.
  static std::uint64_t number_posted(ReceiveChannel& channel) noexcept {
    ++channel.under_way;
    return ++channel.count;
  }
  static void completed(ReceiveChannel& channel, std::uint64_t number) noexcept {
    --channel.under_way;
    if (number > channel.completed) channel.completed = number;
  }
  // Stores such a receive here from now on, because it may be cancelled. Returns its place; 0 if there is no room.
  std::uint32_t keep(std::uint32_t channel, std::uint64_t number, std::uint64_t ticks, std::uint32_t site) noexcept;

  // The call that posts a receive begins and ends. Calls of different threads that overlap have no order.
  void begin_posting(std::uint32_t receive) noexcept;
  void end_posting(std::uint32_t receive) noexcept;

  // The receive has taken a message of the channel. Resolves all receives whose numbers follow from that. Calls
  // resolved(Receive&) for each that has completed, and has its number or will never have it (0); then removes it.
  template <class Resolved>
  void match(std::uint32_t receive, std::uint32_t channel, Resolved resolved) noexcept;
  // The message of a matched receive has arrived.
  template <class Resolved>
  void complete(std::uint32_t receive, Resolved resolved) noexcept;

  // MPI was asked to cancel the receive.
  void cancel_requested(std::uint32_t receive) noexcept;
  // The receive was cancelled, and has taken no message.
  template <class Resolved>
  void cancel(std::uint32_t receive, Resolved resolved) noexcept;
  // The completion of the receive will not be reported: its request was freed, or failed without a status.
  template <class Resolved>
  void drop(std::uint32_t receive, Resolved resolved) noexcept;

  // The receive failed. Whether it took a message is not known.
  template <class Resolved>
  void lose(std::uint32_t receive, Resolved resolved) noexcept;

  // The communicator was freed. Channels with messages in the ring can still be found by their identifiers.
  void remove(std::uint32_t communicator, const ReceivedRing& ring) noexcept;

 private:
  static std::uint64_t hash(std::uint32_t communicator, std::int32_t source, std::int32_t tag) noexcept {
    const std::uint64_t h =
        (std::uint64_t{communicator} << 32 | static_cast<std::uint32_t>(tag)) * 0x9e3779b97f4a7c15U +
        static_cast<std::uint32_t>(source) * 0xc2b2ae3d27d4eb4fU;
    return h >> 32;
  }
  static std::uint64_t hash_of(std::uint32_t communicator) noexcept { return mix(communicator); }

  [[gnu::noinline]] KnownChannel<ReceiveChannel> look_up(std::uint32_t communicator, const Pattern& pattern) noexcept {
    const std::uint32_t place = pattern.definite() ? find_channel(communicator, pattern.source, pattern.tag) : 0;
    if (place == 0) return {};
    return {&channels_[place], generation_};
  }
  bool is_overlapped(const ReceiveQueue& queue, std::int32_t source, std::int32_t tag) const noexcept;
  void append(ReceiveQueue& queue, std::uint32_t receive) noexcept;
  void insert_by_order(ReceiveQueue& queue, std::uint32_t receive) noexcept;
  void unlink(std::uint32_t receive) noexcept;
  void number(std::uint32_t receive) noexcept;
  void lose_pattern(std::uint32_t queue, const Pattern& pattern) noexcept;
  void remove_retired(const ReceivedRing& ring) noexcept;
  template <class Resolved>
  void resolve(std::uint32_t queue, Resolved resolved) noexcept;
  template <class Resolved>
  void finish(std::uint32_t receive, Resolved resolved) noexcept;

  Places<ReceiveChannel> channels_{channel_capacity};
  Places<Receive> receives_{receive_capacity};
  Places<ReceiveQueue> queues_{queue_capacity};
  PlaceIndex channel_index_;
  PlaceIndex named_index_;  // the channels that have an id
  ChannelMemo<ReceiveChannel> memo_;
  std::uint64_t listed_ = 0;  // receives in queues
  bool all_lost_ = false;     // lose_numbers()
  std::uint32_t generation_ = 1;
  PlaceIndex queue_index_;
  std::uint64_t order_ = 0;
  // Calls under way that post receives. Kept only while several threads may call MPI.
  static constexpr std::uint32_t max_posting = 64;
  std::uint32_t posting_[max_posting] = {};
  std::uint32_t posting_count_ = 0;
};

template <class Resolved>
void Receives::match(std::uint32_t receive, std::uint32_t channel, Resolved resolved) noexcept {
  Receive& r = receives_[receive];
  if (r.matched) return;
  const std::uint32_t queue = r.queue;
  r.channel = channel;
  r.matched = true;
  r.open = false;
  if (r.listed) resolve(queue, resolved);
}

template <class Resolved>
void Receives::complete(std::uint32_t receive, Resolved resolved) noexcept {
  Receive& r = receives_[receive];
  r.completed = true;
  if (r.listed) return;  // removed when its number is known
  ReceiveChannel& c = channels_[r.channel];
  if (r.number > c.completed) c.completed = r.number;
  finish(receive, resolved);
}

template <class Resolved>
void Receives::cancel(std::uint32_t receive, Resolved resolved) noexcept {
  const Receive& r = receives_[receive];
  const std::uint32_t queue = r.queue;
  if (r.listed)
    unlink(receive);
  else if (r.channel != 0)  // a cancellation cannot take effect after completion
    channels_[r.channel].lose();
  receives_.give_back(receive);
  resolve(queue, resolved);
}

template <class Resolved>
void Receives::drop(std::uint32_t receive, Resolved resolved) noexcept {
  Receive& r = receives_[receive];
  r.dropped = true;
  if (r.open) return lose(receive, resolved);  // it may take any message that it matches, now or later, or none
  r.completed = true;
  if (!r.listed) finish(receive, resolved);
}

template <class Resolved>
void Receives::lose(std::uint32_t receive, Resolved resolved) noexcept {
  const std::uint32_t queue = receives_[receive].queue;
  const Pattern pattern = receives_[receive].pattern;
  if (receives_[receive].listed) unlink(receive);
  receives_.give_back(receive);
  lose_pattern(queue, pattern);
  resolve(queue, resolved);
}

// Numbers, in the order of posting, the receives that no earlier open receive can affect.
template <class Resolved>
void Receives::resolve(std::uint32_t queue, Resolved resolved) noexcept {
  constexpr std::uint32_t most = 64;
  Pattern open[most];
  std::uint32_t opens = 0;
  for (std::uint32_t at = queues_[queue].first; at != 0;) {
    Receive& r = receives_[at];
    const std::uint32_t next = r.behind;
    if (r.open) {
      if (opens == most) return;
      open[opens++] = r.pattern;
    } else {
      const ReceiveChannel& c = channels_[r.channel];
      bool free = true;
      for (std::uint32_t i = 0; i < opens && free; ++i) free = !open[i].covers(c.source, c.tag);
      if (free) {
        unlink(at);
        number(at);
        if (r.completed) {
          ReceiveChannel& known = channels_[r.channel];
          if (r.number > known.completed) known.completed = r.number;
          finish(at, resolved);
        }
      }
    }
    at = next;
  }
}

template <class Resolved>
void Receives::finish(std::uint32_t receive, Resolved resolved) noexcept {
  Receive& r = receives_[receive];
  if (!r.dropped) resolved(r);
  receives_.give_back(receive);
}

}  // namespace tare::mpi::sampling
