// The message sampler of a process. It numbers every point-to-point message on both sides, chooses some when they are
// sent, and passes a record of each chosen message to the receiver. The receiver adds each pair of record and message
// to its class.
//
// On one node, the record lies in the receiver's mailbox before the message is sent, so it is there when the message
// arrives. Between nodes, the record travels as a message on a private communicator (private_path.h), after the call
// that sent. Record and message may arrive in either order.
//
// While one thread at a time calls MPI, nothing is locked. With MPI_THREAD_MULTIPLE, a spin lock protects the
// bookkeeping. It is never held across a call of MPI.
#pragma once

#include <utility>

#include "mpi/sampling/chooser.h"
#include "mpi/sampling/classes.h"
#include "mpi/sampling/control_file.h"
#include "mpi/sampling/message_event.h"
#include "mpi/sampling/node.h"
#include "mpi/sampling/node_clock.h"
#include "mpi/sampling/received_ring.h"
#include "mpi/sampling/receives.h"
#include "mpi/sampling/records.h"
#include "mpi/sampling/send_filter.h"
#include "mpi/sampling/sends.h"
#include "mpi/sampling/user_code.h"
#include "recorder/system.h"

namespace tare::mpi::sampling {

// A send, from its start to its end.
struct Ticket {
  SendChannel* channel;  // nullptr: nothing is to be done at the end
  std::uint64_t number;  // of the message in the channel
  bool counted;          // the channel counts it among its calls under way
  bool reported;         // its record lies in the receiver's mailbox
  bool to_report;        // its record is to be sent to another node
  bool ends;             // something is to be done when the call has succeeded
  MessageRecord record;  // the record to be sent
};

// What became of the message of a call that was to send it.
enum class Outcome : std::uint8_t {
  sent,
  refused,  // MPI has refused an argument, and sent nothing
  unknown,  // the call failed
};

// Functions that send and receive records between nodes. Called outside the sampler's lock; none of them blocks.
struct PrivatePath {
  bool (*send)(const MessageRecord& record, std::int32_t destination) noexcept;
  bool (*listen)(MessageRecord& record) noexcept;  // false if none has arrived
};

class Sampler {
 public:
  // ---- start and end; one thread

  // Loads the user's code that the spec names. nullptr, or an error message, and then sampling must not begin.
  const char* load(const Spec& spec) noexcept { return user_.load(spec); }
  // Begins numbering. `summary` and `classes` lie in the segment.
  void begin(const Spec& spec, const char* text, format::SampleSummary* summary, format::SampleClass* classes) noexcept;
  bool active() const noexcept { return active_.load(std::memory_order_relaxed); }
  // From now on several threads may be in MPI at the same time.
  void share() noexcept {
    shared_ = true;
    settle();
  }
  // Sets the memory that the ranks of this node share, when all of them have joined. From now on they exchange records.
  void set_node(Node* node) noexcept;
  // Sets a function that is called now and then until it returns true, because it may have to wait for other ranks. It
  // is called outside the lock, and may call MPI.
  void set_joining(bool (*join)() noexcept) noexcept;
  void set_clock_rate(double ticks_per_ns) noexcept;
  // The first node's clock is now ahead of this node's by `ahead_ns`, with this uncertainty. `rank`: the rank in the
  // world that measured it for this node.
  void set_clock_offset(std::int64_t ahead_ns, std::uint64_t uncertainty_ns, std::int32_t rank) noexcept;
  // The same at the end. Results do not change; the reader derives their uncertainty from it.
  void set_clock_at_end(std::int64_t ahead_ns, std::uint64_t uncertainty_ns) noexcept;
  void set_private_path(const PrivatePath& path) noexcept { path_ = path; }
  // Sets this process's rank in the world, and a function that finds the rank in the world of a member of an Endpoint's
  // peers (-1: it has none).
  void set_rank(std::int32_t rank, std::int32_t (*world_rank)(const void* peers, std::int32_t peer) noexcept) noexcept;
  // Sets the functions that say whether a call site, by its number, is one that the spec names; and its key.
  void set_sites(SendFilter::IsAt* is_at, UserCode::KeyOfSite* key_of) noexcept {
    filter_.set_sites(is_at);
    user_.set_keys(key_of);
  }
  // Changes the spec from the next message on. Returns nullptr, or an error message, and then nothing changes. Any
  // thread may call it at any time. If only one thread at a time is in MPI, that thread puts the spec into force.
  const char* change(const char* text) noexcept;
  // Looks now and then whether the user has changed the control file. To be called after each call that sends or
  // receives; `ticks` is the time at which that returned.
  [[gnu::always_inline]] void look(std::uint64_t ticks) noexcept {
    if (ticks >= look_at_.load(std::memory_order_relaxed)) [[unlikely]]
      look_for_changes(ticks);
  }
  // To be called when all messages have been sent and received.
  void finish() noexcept;
  // For a forked child, which takes no part in the parent's messages.
  void stop() noexcept {
    active_.store(false, std::memory_order_relaxed);
    settle();
  }

  // ---- sends

  // Numbers a message that a call is about to send, if its channel was found lately. The number is then the count of
  // the channel. nullptr: begin_send() must be called.
  [[gnu::always_inline]] SendChannel* number_sent(std::uint32_t communicator, std::int32_t peer,
                                                  std::int32_t tag) noexcept {
    if (!sends_quickly()) return nullptr;
    SendChannel* channel = sends_.recent(communicator, peer, tag);
    if (channel == nullptr) return nullptr;
    ++summary_->sent;
    ++channel->count;
    return channel;
  }
  // Whether that message is chosen. If so, chosen() must be called.
  [[gnu::always_inline]] bool chooses(const SendChannel& channel) noexcept {
    return chooser_.choose(channel.id, channel.count);
  }
  // The message is chosen, unless a condition of the spec excludes it. This and the next function fill the ticket, and
  // return whether something is to be done when the call has succeeded.
  bool chosen(Ticket& ticket, SendChannel& channel, const Sent& sent) noexcept {
    ticket.channel = &channel;
    ticket.number = channel.count;
    ticket.counted = ticket.reported = ticket.to_report = ticket.ends = false;
    if (!narrowed_ || filter_.accepts(spec_, sent)) announce(channel, ticket, false, sent, chooser_.weight());
    return ticket.ends;
  }
  // To be called before any other call that sends. `together`: the call starts other messages too, in an order that MPI
  // chooses. `muted`: the message is numbered, but not chosen.
  bool begin_send(Ticket& ticket, const Endpoint& endpoint, std::int32_t peer, std::int32_t tag, bool together,
                  bool muted, const Sent& sent) noexcept;
  // To be called after the call, if it failed or something is to be done.
  void end_send(Ticket& ticket, Outcome outcome) noexcept {
    if (ticket.channel != nullptr && (ticket.ends || outcome != Outcome::sent)) ended_send(ticket, outcome);
  }
  // A call failed whose message was numbered without a ticket.
  void failed_send(SendChannel& channel, Outcome outcome) noexcept {
    if (outcome == Outcome::refused)
      take_back(channel);
    else
      channel.id = 0;  // later numbers are not known, either
  }
  // Numbers a message that a persistent request is about to send, whose channel may be known, and fills the ticket. If
  // it returns false: chosen() must be called if the ticket has a channel, else begin_send().
  [[gnu::always_inline]] bool pass(Ticket& ticket, KnownChannel<SendChannel>& known, std::uint32_t communicator,
                                   const Pattern& to) noexcept {
    SendChannel* channel = sends_quickly() ? sends_.recall(known, communicator, to.source, to.tag) : nullptr;
    ticket.channel = channel;
    ticket.counted = ticket.reported = ticket.to_report = ticket.ends = false;
    if (channel == nullptr) return false;
    ++summary_->sent;
    ++channel->count;
    return !chooses(*channel);
  }
  // The number of a call that is about to start several requests, in an order that MPI chooses. For the next two
  // functions.
  std::uint32_t next_start() noexcept { return ++starts_; }
  // Whether a message, or a receive, is the first that the call starts on its channel. Also false if a quick check does
  // not tell. Only for one thread at a time.
  bool sends_apart(KnownChannel<SendChannel>& known, std::uint32_t communicator, const Pattern& to,
                   std::uint32_t start) noexcept {
    return is_first(sends_.recall(known, communicator, to.source, to.tag), start);
  }
  bool receives_apart(KnownChannel<ReceiveChannel>& known, std::uint32_t communicator, const Pattern& pattern,
                      std::uint32_t start) noexcept {
    return is_first(receives_.recall(known, communicator, pattern), start);
  }
  // MPI was asked to cancel a send. The numbers of later messages are not known.
  void cancelling_send() noexcept;
  // A call that sends was left by a jump, without its ticket. Whether the message was sent is not known.
  void left_send(std::uint32_t communicator, std::int32_t peer, std::int32_t tag) noexcept;
  // The same for all messages, also those that are still to come.
  void lose_numbers() noexcept;

  // ---- receives

  // Numbers a message that was received, if that is enough to know its number. The number is then the count of its
  // channel. Unless the message is known_unchosen(), numbered() must be called. nullptr: received() must be called.
  [[gnu::always_inline]] ReceiveChannel* number_received(std::uint32_t communicator, std::int32_t source,
                                                         std::int32_t tag) noexcept {
    if (!quick_) return nullptr;
    ReceiveChannel* channel = receives_.recent(communicator, source, tag);
    if (channel == nullptr || channel->lost) return nullptr;
    ++summary_->received;
    channel->completed = ++channel->count;
    return channel;
  }
  // Whether a quick check shows that a received message was not chosen.
  [[gnu::always_inline]] bool known_unchosen(const ReceiveChannel& channel, std::uint64_t number) const noexcept {
    if (channel.place != 0) [[likely]]
      return changes() == quiet_ && !has_announced(channel);
    return channel.id == 0 || path_.listen == nullptr ||
           (chooser_.is_coordinated() && !changed_ && !chooser_.coordinated(channel.id, number));
  }
  // To be called after a call that may have received a message. Prefetches the sender's next record, which another
  // processor has written, while the call is added to the profile.
  [[gnu::always_inline]] void fetch_record() const noexcept { __builtin_prefetch(next_record_); }
  // A received message has got its number.
  void numbered(ReceiveChannel& channel, const Received& received) noexcept;
  // A receive that began and ended while this process could post no other. `message`: its source and tag. Only for one
  // thread at a time.
  void received(const Endpoint& endpoint, const Pattern& message, const ReceiveTimes& times, std::uint64_t bytes,
                std::uint32_t site) noexcept;

  // Numbers a receive that has just been posted, if that is enough to know its number. Returns the word that represents
  // it until it completes, with numbered_bit set; nothing else is kept. 0: post() must be called.
  [[gnu::always_inline]] std::uint32_t number_posted(std::uint32_t communicator, const Pattern& pattern) noexcept {
    return quick_ ? number_posted(receives_.recent(communicator, pattern.source, pattern.tag)) : 0;
  }
  // The same for a request whose channel may be known.
  [[gnu::always_inline]] std::uint32_t number_posted(KnownChannel<ReceiveChannel>& known, std::uint32_t communicator,
                                                     const Pattern& pattern) noexcept {
    return quick_ ? number_posted(receives_.recall(known, communicator, pattern)) : 0;
  }
  // Its message has arrived, and nothing more is to be done. If it returns false, complete_posted() must be called.
  [[gnu::always_inline]] bool pass_posted(std::uint32_t numbered) noexcept {
    if (!quick_) [[unlikely]]
      return false;
    ReceiveChannel& channel = channel_of_posted(numbered);
    const std::uint64_t number = number_of(channel, numbered);
    if (!known_unchosen(channel, number)) return false;
    ++summary_->received;
    Receives::completed(channel, number);
    return true;
  }
  // Its message has arrived.
  void complete_posted(std::uint32_t numbered, const ReceiveTimes& times, std::uint64_t bytes,
                       std::uint32_t site) noexcept {
    ReceiveChannel& channel = channel_of_posted(numbered);
    ++summary_->received;
    const std::uint64_t number = number_of(channel, numbered);
    Receives::completed(channel, number);
    this->numbered(channel, {times, number, bytes, site, false});
  }
  // Makes it one of the receives below, because it is not certain any more that it takes a message. It was posted at
  // `ticks`.
  std::uint32_t keep_posted(std::uint32_t numbered, std::uint64_t ticks, std::uint32_t site) noexcept;

  // Any other receive, in steps. The place of a receive is 0 if there was no room; all steps accept that. First comes
  // the posting, with the start of the call that posts.
  std::uint32_t post(const Endpoint& endpoint, Pattern pattern, bool together) noexcept;
  void posted(std::uint32_t receive, bool together, std::uint64_t ticks, std::uint32_t site) noexcept;
  // Its message is known. False if there was no room to keep the receive, which then does not exist any more.
  bool match(std::uint32_t receive, const Pattern& message) noexcept;
  // Whether match() was called for it.
  bool is_matched(std::uint32_t receive) noexcept {
    const Locked locked(*this);
    return receive != 0 && receives_[receive].matched;
  }
  // Its message has arrived. `bytes`: format::no_bytes if the number is not known.
  void complete(std::uint32_t receive, std::uint64_t waited, std::uint64_t ended, std::uint64_t bytes) noexcept;
  void cancel_requested(std::uint32_t receive) noexcept;
  void cancel(std::uint32_t receive) noexcept;
  // The program frees its request, or the receive failed while it took its message.
  void drop(std::uint32_t receive) noexcept;
  // The receive failed. Whether it took a message is not known.
  void lose(std::uint32_t receive) noexcept;

  // Sets the call site of the call that receives the message of a matched probe.
  void at_site(std::uint32_t receive, std::uint32_t site) noexcept {
    if (receive == 0) return;
    const Locked locked(*this);
    receives_[receive].site = site;
  }

  bool shared() const noexcept { return shared_; }
  // Whether records may come from other nodes.
  bool listening() const noexcept { return path_.listen != nullptr; }
  void remove_communicator(std::uint32_t communicator) noexcept;

  // Receives records of other nodes, if some are expected, and passes sampled messages to the user's analysis. Calls
  // MPI, and the user's code.
  void poll() noexcept {
    if (listens_.load(std::memory_order_relaxed)) [[unlikely]]
      listen();
  }
  void listen() noexcept;
  // Whether Sent::communicator is used.
  bool asks_for_names() const noexcept { return asks_for_names_.load(std::memory_order_relaxed); }
  void after_fork() noexcept {
    lock_.reset();
    stop();
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

  template <class Channel>
  static bool is_first(Channel* channel, std::uint32_t start) noexcept {
    return channel != nullptr && std::exchange(channel->start, start) != start;
  }
  [[gnu::always_inline]] static std::uint32_t number_posted(ReceiveChannel* channel) noexcept {
    if (channel == nullptr || channel->posts == 0) return 0;
    return channel->posts | lowest(Receives::number_posted(*channel));
  }
  // Whether the mailbox from the source of a channel has records that were not read.
  [[gnu::always_inline]] bool has_announced(const ReceiveChannel& channel) const noexcept {
    return channel.mailbox != nullptr && channel.mailbox->first(mask_) != nullptr;
  }
  std::uint32_t changes() const noexcept { return std::atomic_ref(*change_word_).load(std::memory_order_acquire); }
  // To be called when a state has changed that quick_ and quick_sends_ follow from.
  void settle() noexcept;
  bool sends_quickly() const noexcept { return quick_sends_.load(std::memory_order_relaxed); }
  // To be called when records were kept or taken, or changes were read.
  void settle_quiet() noexcept { quiet_ = records_.empty() ? changes_read_ : never; }
  // The place of the channel of a receive that number_posted() has numbered.
  static std::uint32_t place_of_posted(std::uint32_t numbered) noexcept {
    return (numbered & (numbered_bit - 1)) >> number_bits;
  }
  ReceiveChannel& channel_of_posted(std::uint32_t numbered) noexcept {
    return receives_.channel(place_of_posted(numbered));
  }
  // The full number of such a receive.
  static std::uint64_t number_of(const ReceiveChannel& channel, std::uint32_t numbered) noexcept {
    return channel.count - lowest(channel.count - numbered);
  }
  static std::uint32_t lowest(std::uint64_t number) noexcept {
    return static_cast<std::uint32_t>(number) & ((1U << number_bits) - 1);
  }
  SendChannel* new_send_channel(const Endpoint& endpoint, std::int32_t peer, std::int32_t tag) noexcept;
  std::uint32_t new_receive_channel(const Endpoint& endpoint, std::int32_t source, std::int32_t tag) noexcept;
  std::uint32_t receive_channel(const Endpoint& endpoint, std::int32_t source, std::int32_t tag) noexcept {
    const std::uint32_t known = receives_.find_channel(endpoint.communicator, source, tag);
    return known != 0 ? known : new_receive_channel(endpoint, source, tag);
  }
  void received_behind_open(std::uint32_t channel, const ReceiveTimes& times, std::uint64_t bytes,
                            std::uint32_t site) noexcept;
  void note_spec(const char* text) noexcept;
  void use_spec() noexcept;
  void announce(SendChannel& channel, Ticket& ticket, bool overlaps, const Sent& sent, float weight) noexcept;
  void ask_user(Ticket& ticket, const Endpoint& endpoint, const Sent& sent) noexcept;
  void keep_for_analysis(const Pair& pair, std::uint64_t number, const ReceiveChannel& channel,
                         const Received& received) noexcept;
  void ended_send(Ticket& ticket, Outcome outcome) noexcept;
  // The last message of a channel was not sent: the next one gets its number.
  void take_back(SendChannel& channel) noexcept {
    --channel.count;
    --summary_->sent;
  }
  void retract(SendChannel& channel, std::uint64_t number) noexcept;
  void resolved(const Receive& receive) noexcept;
  void numbered_here(ReceiveChannel& channel, const Received& received) noexcept;
  void numbered_elsewhere(ReceiveChannel& channel, const Received& received) noexcept;
  void drain(Mailbox& mailbox) noexcept;
  void read_changes() noexcept;
  void remove_retracted() noexcept;
  void apply(const MessageRecord& record) noexcept;
  void pair(const MessageRecord& record, const ReceiveChannel& channel, const Received& received) noexcept;
  void use_asked() noexcept;
  void look_for_changes(std::uint64_t ticks) noexcept;
  bool is_past(const MessageRecord& record) noexcept;
  std::uint32_t place_of(std::int32_t world_rank) const noexcept;

  // These are read for every message. quick_: nothing but numbering is to be done, and no lock is needed. quick_sends_:
  // the same for sends.
  bool quick_ = false;
  std::atomic<bool> quick_sends_{false};
  std::atomic<bool> active_{false};
  bool shared_ = false;
  bool narrowed_ = false;
  std::atomic<bool> asks_for_names_{false};
  // What becomes of sampled messages, by the spec; 0: nothing.
  static constexpr unsigned in_class = 1, in_histogram = 2, passed_on = 4;  // to the trace, or the user's analysis
  unsigned becomes_ = 0;
  bool changed_ = false;              // other ranks may still use another spec
  std::atomic<bool> listens_{false};  // a record may have come from another node, or a message waits for the analysis
  recorder::SpinLock lock_;
  Chooser chooser_;
  Sends sends_;
  Receives receives_;
  Records records_;
  ReceivedRing ring_;
  // After so many received messages that may have been chosen, the sampler looks for records of other nodes.
  static constexpr std::uint32_t listen_every = 32;
  static_assert(2 * listen_every < ReceivedRing::capacity);
  Classes classes_;
  format::SampleSummary* summary_ = nullptr;
  Node* node_ = nullptr;
  const void* next_record_ = this;  // where the writer of the record that was read last will put the next one
  std::uint32_t starts_ = 0;        // calls that have started several requests
  static constexpr std::uint64_t never = UINT64_MAX;
  std::uint64_t mask_ = 0;   // number of slots of a mailbox, less 1
  std::uint64_t quiet_ = 0;  // changes() while no record waits and no change is unread; else never
  std::uint32_t* change_word_ = nullptr;
  std::uint32_t changes_read_ = 0;      // the value of changes() up to which they were read
  std::uint32_t retractions_read_ = 0;  // the same for retractions
  std::int32_t rank_ = -1;
  std::int32_t (*world_rank_)(const void* peers, std::int32_t peer) noexcept = nullptr;
  PrivatePath path_{};
  Spec spec_{};
  NodeClock clock_;
  SendFilter filter_;
  UserCode user_;
  MessageEvents events_;
  ControlFile control_file_;
  // If nothing has changed, a look costs a reading of the clock and one word of shared memory.
  static constexpr std::uint64_t look_interval_ns = 100'000'000;
  std::atomic<std::uint64_t> look_at_{UINT64_MAX};  // ticks
  std::atomic<bool (*)() noexcept> join_{nullptr};
  // The spec that was asked for last. If one thread at a time is in MPI, it is in force when that thread has seen it.
  recorder::SpinLock asked_lock_;
  Spec asked_{};
  std::atomic<bool> asks_{false};
};

[[gnu::visibility("hidden")]] extern Sampler sampler;

}  // namespace tare::mpi::sampling
