// The message sampler of a process: numbers every point-to-point message on both sides, chooses some when they are
// sent, tells the receiver of them beside the message, and there adds each pair to its class.
//
// On one node the sender's record lies in the receiver's mailbox before the message is sent, so it is there when the
// message has come. Between nodes it travels as a message on a private communicator (private_path.h), after the call
// that sent, and either side may come first.
//
// While one thread at a time calls MPI nothing is locked. With MPI_THREAD_MULTIPLE a spin lock is held for the
// bookkeeping, never across a call of MPI.
#pragma once

#include "mpi/sampling/chooser.h"
#include "mpi/sampling/classes.h"
#include "mpi/sampling/mailbox.h"
#include "mpi/sampling/pairing.h"
#include "mpi/sampling/receives.h"
#include "mpi/sampling/sends.h"
#include "recorder/system.h"

namespace tare::mpi::sampling {

// What narrows the choice and goes into the record; asked of chosen messages only, and of all where the spec is
// narrowed.
struct Sent {
  std::uint64_t bytes;
  std::uint32_t site;  // number of the call site
  std::uint16_t function;
  const char* communicator;  // its name
};

// A send from its begin to its end.
struct Ticket {
  SendChannel* channel;  // nullptr: nothing is to be done at the end
  bool counted;          // among the calls under way on its channel
  bool told;             // its record lies in the receiver's mailbox
  bool to_tell;          // its record is to be sent
  MessageRecord record;
};

// When what happened to a receive, in ticks.
struct ReceiveTimes {
  std::uint64_t posted;
  std::uint64_t waited;
  std::uint64_t ended;
};

// The private messages between nodes. Called outside the sampler's lock; none of them blocks.
struct PrivatePath {
  bool (*tell)(const MessageRecord& record, std::int32_t destination) noexcept;
  bool (*listen)(MessageRecord& record) noexcept;  // false if nothing has come
};

class Sampler {
 public:
  // ---- start and end; one thread

  // Begins to number. `summary` and `classes` lie in the segment.
  void begin(const Spec& spec, const char* text, format::SampleSummary* summary, format::SampleClass* classes) noexcept;
  bool active() const noexcept { return active_; }
  // From here on several threads may be in MPI at a time.
  void share() noexcept { shared_ = true; }
  // The ranks of this node: `world_ranks[i]` has mailboxes[i], `mine` is this process's.
  void set_node(Mailbox* mailboxes, const std::int32_t* world_ranks, std::uint32_t count, std::uint32_t mine) noexcept;
  void set_clock_rate(double ticks_per_ns) noexcept;
  // The first node's clock is `ahead_ns` ahead of this node's, give or take `uncertainty_ns`, now.
  void set_clock_offset(std::int64_t ahead_ns, std::uint64_t uncertainty_ns) noexcept;
  void set_private_path(const PrivatePath& path) noexcept { path_ = path; }
  // This process's rank in the world, and how to find that of a member of an Endpoint's peers (-1: it has none).
  void set_rank(std::int32_t rank, std::int32_t (*world_rank)(const void* peers, std::int32_t peer) noexcept) noexcept;
  // Whether a call site, by its number, is one that the spec names.
  void set_sites(bool (*is_at)(std::uint64_t number, const Spec::Site& site) noexcept) noexcept { is_at_ = is_at; }
  // Another spec from the next message on. nullptr, or what is wrong with it, and then nothing changes.
  const char* change(const char* text) noexcept;
  // All has been sent and received that will be.
  void finish() noexcept;
  // In a forked child: it has no part in the parent's messages.
  void stop() noexcept { active_ = false; }

  // ---- sends

  // Numbers a message that a call is about to send if that is all that there is to do, which it nearly always is. If it
  // gives false begin_send() has to be called. The ticket's flags must be false.
  bool pass(Ticket& ticket, std::uint32_t communicator, std::int32_t peer, std::int32_t tag) noexcept {
    SendChannel* channel = shared_ ? nullptr : sends_.recent(communicator, peer, tag);
    if (channel == nullptr || !chooser_.passes(channel->id, channel->count + 1)) return false;
    ++channel->count;
    count_sent();
    ticket.channel = channel;
    return true;
  }
  // Before the call that sends. `sent()` gives a Sent. `together`: the call starts other messages
  // too, in an order that is MPI's choice. `muted`: the message is numbered, but not chosen.
  template <class SentOf>
  void begin_send(Ticket& ticket, const Endpoint& endpoint, std::int32_t peer, std::int32_t tag, bool together,
                  bool muted, SentOf sent) noexcept;
  // After it; must follow where begin_send was called.
  void end_send(Ticket& ticket, bool success) noexcept {
    if (ticket.channel == nullptr || (!ticket.counted && !ticket.to_tell && success)) [[likely]]
      return;
    ended_send(ticket, success);
  }
  // MPI was asked to cancel a send: nobody knows which messages follow it.
  void cancelling_send() noexcept;

  // ---- receives

  // Numbers a message that was received if that is all that there is to do. If it gives false received() has to be
  // called. For single-threaded use.
  bool pass_received(std::uint32_t communicator, std::int32_t source, std::int32_t tag) noexcept {
    ReceiveChannel* channel = receives_.recent(communicator, source, tag);
    if (channel == nullptr || !channel->local || channel->lost || told() || !pairing_.empty()) return false;
    ++summary_->received;
    channel->completed = ++channel->count;
    return true;
  }
  // A receive that began and ended while no other could be posted by this process; `message`: its source and tag. For
  // single-threaded use.
  void received(const Endpoint& endpoint, const Pattern& message, const ReceiveTimes& times, std::uint64_t bytes,
                std::uint32_t site) noexcept;

  // Any other receive, in steps. The place of a receive is 0 if there was no room; all steps take that.
  // Posting, and the begin of the call that posts;
  std::uint32_t post(const Endpoint& endpoint, Pattern pattern, bool together) noexcept;
  void posted(std::uint32_t receive, bool together, std::uint64_t ticks, std::uint32_t site) noexcept;
  // Its message is known. False if the receive could not be kept, and then exists no more.
  bool match(std::uint32_t receive, const Pattern& message) noexcept;
  // And there.
  void complete(std::uint32_t receive, std::uint64_t waited, std::uint64_t ended, std::uint64_t bytes) noexcept;
  void doubt(std::uint32_t receive) noexcept;
  void cancel(std::uint32_t receive) noexcept;
  // The program gives its request up; or the receive failed in taking its message.
  void drop(std::uint32_t receive) noexcept;
  // It failed, and nobody knows whether it took one.
  void lose(std::uint32_t receive) noexcept;

  // The call that receives the message of a matched probe.
  void at_site(std::uint32_t receive, std::uint32_t site) noexcept {
    if (receive == 0) return;
    const Locked locked(*this);
    receives_[receive].site = site;
  }

  bool shared() const noexcept { return shared_; }
  // Whether records come from other nodes.
  bool listening() const noexcept { return path_.listen != nullptr; }
  void forget_communicator(std::uint32_t communicator) noexcept;

  // Takes what has come from other nodes, if something is expected. Calls MPI.
  void poll() noexcept {
    if (listens_.load(std::memory_order_relaxed)) [[unlikely]]
      listen();
  }
  void listen() noexcept;
  const Spec& spec() const noexcept { return spec_; }
  void after_fork() noexcept {
    lock_.reset();
    active_ = false;
  }

 private:
  class Locked {
   public:
    explicit Locked(Sampler& sampler) noexcept : sampler_(sampler) {
      if (sampler_.shared_) sampler_.lock_.lock();
    }
    ~Locked() {
      if (sampler_.shared_) sampler_.lock_.unlock();
    }
    Locked(const Locked&) = delete;
    Locked& operator=(const Locked&) = delete;

   private:
    Sampler& sampler_;
  };

  // What the user says meanwhile is looked for now and then.
  void count_sent() noexcept {
    if ((++summary_->sent & 0xfff) == 0) [[unlikely]]
      check_control_file();
  }
  // Whether another rank of the node has told something.
  bool told() const noexcept { return mine_->waiting() || mine_->doubts() != doubts_; }
  SendChannel* new_send_channel(const Endpoint& endpoint, std::int32_t peer, std::int32_t tag) noexcept;
  std::uint32_t new_receive_channel(const Endpoint& endpoint, std::int32_t source, std::int32_t tag) noexcept;
  std::uint32_t receive_channel(const Endpoint& endpoint, std::int32_t source, std::int32_t tag) noexcept {
    const std::uint32_t known = receives_.find_channel(endpoint.communicator, source, tag);
    return known != 0 ? known : new_receive_channel(endpoint, source, tag);
  }
  void received_in_doubt(std::uint32_t channel, const ReceiveTimes& times, std::uint64_t bytes,
                         std::uint32_t site) noexcept;
  bool wanted(const Sent& sent) noexcept;
  bool wanted_site(std::uint32_t number) noexcept;
  bool in_wanted_phase() noexcept;
  const char* use(const char* text) noexcept;
  void note_spec(const char* text) noexcept;
  void tell(SendChannel& channel, Ticket& ticket, std::uint64_t number, bool overlaps, const Sent& sent) noexcept;
  void ended_send(Ticket& ticket, bool success) noexcept;
  void retract(SendChannel& channel, std::uint64_t number) noexcept;
  void resolved(const Receive& receive) noexcept;
  void numbered(const ReceiveChannel& channel, Received& received) noexcept {
    if (channel.local) {
      if (told()) [[unlikely]]
        drain();
      if (pairing_.empty() && !received.ambiguous) [[likely]]
        return;
      numbered_here(received);
    } else {
      numbered_elsewhere(channel, received);
    }
  }
  void numbered_here(const Received& received) noexcept;
  void numbered_elsewhere(const ReceiveChannel& channel, Received& received) noexcept;
  void drain() noexcept;
  void apply(const MessageRecord& record) noexcept;
  void pair(const MessageRecord& record, const Received& received, bool between_nodes) noexcept;
  void write(const Pair& pair, const MessageRecord& record, const Received& received) noexcept;
  std::uint64_t first_node_ns(std::uint64_t own_ns) const noexcept {
    return own_ns + static_cast<std::uint64_t>(ahead_ns_);
  }
  std::int64_t ns_of(std::uint64_t ticks) const noexcept {  // of a span, which may be negative
    return static_cast<std::int64_t>(static_cast<double>(static_cast<std::int64_t>(ticks)) / ticks_per_ns_);
  }
  std::uint64_t uncertainty_ns(std::uint64_t own_ns) const noexcept;
  void check_control_file() noexcept;
  Mailbox* mailbox_of(std::int32_t world_rank, std::uint32_t& number) noexcept;

  bool active_ = false;
  bool shared_ = false;
  bool narrowed_ = false;
  bool changed_ = false;              // others may use another spec for a while
  std::atomic<bool> listens_{false};  // a record may have come from another node
  recorder::SpinLock lock_;
  Chooser chooser_;
  Sends sends_;
  Receives receives_;
  Pairing pairing_;
  Classes classes_;
  format::SampleSummary* summary_ = nullptr;
  Mailbox* mine_ = nullptr;
  Mailbox* mailboxes_ = nullptr;
  const std::int32_t* node_ranks_ = nullptr;
  std::uint32_t node_size_ = 0;
  std::uint32_t doubts_ = 0;
  std::int32_t rank_ = -1;
  std::int32_t (*world_rank_)(const void* peers, std::int32_t peer) noexcept = nullptr;
  bool (*is_at_)(std::uint64_t number, const Spec::Site& site) noexcept = nullptr;
  PrivatePath path_{};
  Spec spec_{};
  double ticks_per_ns_ = 1;
  std::int64_t ahead_ns_ = 0;
  std::uint64_t uncertainty_ns_ = 0;
  std::uint64_t compared_ns_ = 0;  // when the clocks were compared
  std::uint32_t event_type_ = 0;
  std::uint32_t phase_ = 0;  // number of the phase that the spec names; 0: not known yet
  std::int64_t control_changed_ns_ = 0;
  struct SiteVerdict {
    std::uint32_t number;
    bool wanted;
  };
  static constexpr unsigned verdicts = 1024;
  SiteVerdict verdicts_[verdicts] = {};
};

[[gnu::visibility("hidden")]] extern Sampler sampler;

template <class SentOf>
void Sampler::begin_send(Ticket& ticket, const Endpoint& endpoint, std::int32_t peer, std::int32_t tag, bool together,
                         bool muted, SentOf sent) noexcept {
  const Locked locked(*this);
  ticket.told = ticket.to_tell = false;
  ticket.channel = sends_.find(endpoint.communicator, peer, tag);
  if (ticket.channel == nullptr) [[unlikely]] {
    ticket.channel = new_send_channel(endpoint, peer, tag);
    if (ticket.channel == nullptr) return;
  }
  SendChannel& channel = *ticket.channel;
  bool overlaps = false;
  ticket.counted = shared_ || together;
  const std::uint64_t number = ticket.counted ? Sends::begin(channel, overlaps) : ++channel.count;
  count_sent();
  if (overlaps && channel.busy_chosen) retract(channel, channel.busy_since);
  if (muted) [[unlikely]]
    return;
  if (!chooser_.is_coordinated() && narrowed_ && !wanted(sent())) return;
  if (!chooser_.choose(channel.id, number)) [[likely]]
    return;
  if (chooser_.is_coordinated() && narrowed_ && !wanted(sent())) return;
  tell(channel, ticket, number, overlaps, sent());
}

}  // namespace tare::mpi::sampling
