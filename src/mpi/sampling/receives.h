// The receiver's side of the numbering. The k-th message of a channel goes, among the receives that match messages of
// the channel, to the k-th in the order of posting (ARCHITECTURE.md has the proof). So the number of a receive is
// known once it is known of every receive posted before it whether that one takes a message of the channel.
//
// A receive with a definite source and tag does, unless it is cancelled: if none of the receives before it is open,
// it gets its number when it is posted. A receive with a wildcard, or whose cancellation was asked for, is *open*
// until it completes; receives behind it whose patterns overlap with its own wait in a queue of their communicator.
//
// Not thread-safe: the sampler locks.
#pragma once

#include "format/request_table.h"
#include "mpi/sampling/mailbox.h"
#include "mpi/sampling/memory.h"

namespace tare::mpi::sampling {

inline constexpr std::int32_t any = -1;  // source or tag, as in format/record.h

// What stands for a posted receive whose number is known: this bit, the place of its channel, and the number's lowest
// bits, so many that they tell apart all receives that can be under way. Any other receive is its place in the table of
// receives, which is smaller.
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

struct ReceiveChannel {
  std::uint32_t communicator;  // number in this process
  std::uint32_t queue;         // 0: the communicator exists no more
  std::int32_t source;
  std::int32_t tag;
  std::int32_t origin;      // the source's rank in MPI_COMM_WORLD
  std::uint32_t start;      // the last call that started a receive of it and others (Sampler::next_start)
  std::uint64_t id;         // channel_of(); 0: cannot be named alike on both sides
  std::uint64_t count;      // numbers given
  std::uint64_t completed;  // highest number of a receive that has completed
  Mailbox* mailbox;         // where the source tells of its messages, on this node; nullptr: nowhere yet
  std::uint32_t place;      // 1 + the source's place on this node; 0: it is on another
  std::uint32_t under_way;  // receives that number() has numbered
  std::uint32_t kept;       // the last message of it in the ReceivedRing
  std::uint32_t posts;      // what stands for a receive of it, but for its number (numbered_bit); 0: nothing can
  bool lost;                // the numbers are not known any more

  void lose() noexcept {
    lost = true;
    posts = 0;
  }
};

// A receive from its posting until its number is known and it has completed.
struct Receive {
  std::uint32_t channel;  // 0: not known yet
  std::uint32_t queue;
  std::uint32_t before, behind;  // in the queue, if listed
  Pattern pattern;
  std::uint64_t number;  // 0: not known yet
  std::uint64_t order;   // of posting, see post()
  std::uint64_t posted;  // ticks
  std::uint64_t waited;  // ticks: begin of the call that completed it
  std::uint64_t ended;   // ticks
  std::uint64_t bytes;
  std::uint32_t site;
  bool listed;     // in the queue
  bool open;       // may take a message of any channel that its pattern covers, or none
  bool matched;    // its channel is known for certain
  bool completed;  // and the message is there
  bool ambiguous;  // posted at the same time as one that could take the same message
  bool dropped;    // nobody will tell of its completion
};

// Receives of a communicator that wait for their number, and what became of it.
struct ReceiveQueue {
  Endpoint endpoint;
  std::uint32_t first, last;  // of the list, in order of posting
  std::uint32_t lost_patterns;
  Pattern lost[6];  // patterns of receives of which it is not known whether they took a message
};

class ReceivedRing;

class Receives {
 public:
  static constexpr std::uint32_t channel_capacity = 1U << 18;
  static constexpr std::uint32_t receive_capacity = 1U << 16;
  static constexpr std::uint32_t queue_capacity = 1U << 16;

  // Of a communicator; 0 if there is no room.
  std::uint32_t queue_of(const Endpoint& endpoint) noexcept;

  // The channel if it is one of those found last, and no receive waits for its number, else nullptr.
  ReceiveChannel* recent(std::uint32_t communicator, std::int32_t source, std::int32_t tag) const noexcept {
    return listed_ == 0 ? memo_.find(communicator, source, tag) : nullptr;
  }
  void note(ReceiveChannel& channel) noexcept {
    memo_.note(channel.communicator, channel.source, channel.tag, channel);
  }

  // The channel of what is received by a request, if no receive waits for its number; else, or if it is new, nullptr.
  [[gnu::always_inline]] ReceiveChannel* recall(KnownChannel<ReceiveChannel>& known, std::uint32_t communicator,
                                                const Pattern& pattern) noexcept {
    if (known.generation != generation_) [[unlikely]]
      known = look_up(communicator, pattern);
    return listed_ == 0 ? known.channel : nullptr;
  }

  // Nobody knows the numbers of any communicator's messages any more.
  void forget_numbers() noexcept;

  // Place of a channel; 0 if it is new.
  std::uint32_t find_channel(std::uint32_t communicator, std::int32_t source, std::int32_t tag) const noexcept {
    return channel_index_.find(hash(communicator, source, tag), [&](std::uint32_t place) {
      const ReceiveChannel& c = channels_[place];
      return c.communicator == communicator && c.source == source && c.tag == tag;
    });
  }
  // Place of the channel of that name; 0 if there is none.
  std::uint32_t find_channel(std::uint64_t id) const noexcept {
    return named_index_.find(id, [&](std::uint32_t place) { return channels_[place].id == id; });
  }
  // Place of a new channel; 0 if there is no room.
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

  // Whether receives of the communicator wait for their number.
  bool has_waiting(std::uint32_t queue) const noexcept { return queues_[queue].first != 0; }

  // Posts a receive. `channel` is that of a definite pattern, else 0. `ticks` is the time, or 0 if number() is not
  // used. Place of the receive; 0 if there is no room, and then no number of what its pattern covers is known any more.
  std::uint32_t post(std::uint32_t queue, const Pattern& pattern, std::uint32_t channel, std::uint64_t ticks) noexcept;

  // A definite receive whose number is known when it is posted, since no receive waits for one: the caller keeps the
  // number and says when it completes. Gives the number.
  static std::uint64_t number_posted(ReceiveChannel& channel) noexcept {
    ++channel.under_way;
    return ++channel.count;
  }
  static void completed(ReceiveChannel& channel, std::uint64_t number) noexcept {
    --channel.under_way;
    if (number > channel.completed) channel.completed = number;
  }
  // Keeps such a receive here from now on, because it may be cancelled. Its place; 0 if there is no room.
  std::uint32_t keep(std::uint32_t channel, std::uint64_t number, std::uint64_t ticks, std::uint32_t site) noexcept;

  // The call that posts a receive begins and ends: those of different threads that overlap have no order.
  void begin_posting(std::uint32_t receive) noexcept;
  void end_posting(std::uint32_t receive) noexcept;

  // The receive has taken a message of the channel. What is known with it is resolved: resolved(Receive&) is called
  // for each receive that is complete and has its number (0: it is not known), which then exists no more.
  template <class Resolved>
  void match(std::uint32_t receive, std::uint32_t channel, Resolved resolved) noexcept;
  // The message of a matched receive is there.
  template <class Resolved>
  void complete(std::uint32_t receive, Resolved resolved) noexcept;

  // MPI was asked to cancel the receive.
  void cancel_requested(std::uint32_t receive) noexcept;
  // The receive was cancelled: it took no message.
  template <class Resolved>
  void cancel(std::uint32_t receive, Resolved resolved) noexcept;
  // Nobody will tell of the receive's completion: its request was freed, or failed without saying what it took.
  template <class Resolved>
  void drop(std::uint32_t receive, Resolved resolved) noexcept;

  // The receive failed; it is not known whether it took a message.
  template <class Resolved>
  void lose(std::uint32_t receive, Resolved resolved) noexcept;

  // The communicator exists no more. Its channels of which messages lie in the ring can still be found by their names.
  void forget(std::uint32_t communicator, const ReceivedRing& ring) noexcept;

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
  void forget_retired(const ReceivedRing& ring) noexcept;
  template <class Resolved>
  void resolve(std::uint32_t queue, Resolved resolved) noexcept;
  template <class Resolved>
  void finish(std::uint32_t receive, Resolved resolved) noexcept;

  Places<ReceiveChannel> channels_{channel_capacity};
  Places<Receive> receives_{receive_capacity};
  Places<ReceiveQueue> queues_{queue_capacity};
  PlaceIndex channel_index_;
  PlaceIndex named_index_;  // those that have an id
  ChannelMemo<ReceiveChannel> memo_;
  std::uint64_t listed_ = 0;  // receives in queues
  std::uint32_t generation_ = 1;
  PlaceIndex queue_index_;
  std::uint64_t order_ = 0;
  // Calls under way that post receives; kept only while threads share MPI.
  static constexpr std::uint32_t most_posting = 64;
  std::uint32_t posting_[most_posting] = {};
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
  if (r.listed) return;  // finished once its number is known
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
  else if (r.channel != 0)  // no cancellation that was asked for can have come so late
    channels_[r.channel].lose();
  receives_.give_back(receive);
  resolve(queue, resolved);
}

template <class Resolved>
void Receives::drop(std::uint32_t receive, Resolved resolved) noexcept {
  Receive& r = receives_[receive];
  r.dropped = true;
  if (r.open) return lose(receive, resolved);  // it may take any message that it covers, now or later, or none
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

// Numbers, in order of posting, what no open receive before can take.
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
