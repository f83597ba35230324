#include "mpi/sampling/sampler.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "recorder/event_types.h"
#include "recorder/location.h"
#include "recorder/segment.h"

namespace tare::mpi::sampling {

constinit Sampler sampler;

namespace {

// What a look around costs where nothing has changed is a clock and a word of shared memory.
constexpr std::uint64_t look_interval_ns = 100'000'000;
constexpr std::uint64_t join_interval_ns = 1'000'000;
constexpr std::uint64_t file_interval_ns = 1'000'000'000;

}  // namespace

void Sampler::begin(const Spec& spec, const char* text, format::SampleSummary* summary,
                    format::SampleClass* classes) noexcept {
  summary_ = summary;
  summary_->seed = spec.seed;
  note_spec(text);
  classes_.use(summary, classes);
  spec_ = asked_ = spec;
  narrowed_ = spec.narrowed();
  asks_for_names_.store(spec.communicator[0] != '\0', std::memory_order_relaxed);
  chooser_.use(spec_, rank_, ticks_per_ns_);
  active_.store(true, std::memory_order_relaxed);
  settle();
}

// Nothing is numbered quickly while somebody has asked for another spec, until that is in force.
void Sampler::settle() noexcept {
  if (!active()) {  // without the lock, which in a forked child nobody may be left to open
    quick_ = false;
    quick_sends_.store(false, std::memory_order_relaxed);
    return;
  }
  asked_lock_.lock();
  quick_ = !shared_;
  const bool quick_sends =
      quick_ && (!narrowed_ || chooser_.is_coordinated()) && !asks_.load(std::memory_order_relaxed);
  quick_sends_.store(quick_sends, std::memory_order_relaxed);
  asked_lock_.unlock();
}

void Sampler::set_rank(std::int32_t rank,
                       std::int32_t (*world_rank)(const void* peers, std::int32_t peer) noexcept) noexcept {
  rank_ = rank;
  world_rank_ = world_rank;
  chooser_.use(spec_, rank_, ticks_per_ns_);
}

void Sampler::set_clock_rate(double ticks_per_ns) noexcept {
  ticks_per_ns_ = ticks_per_ns;
  ns_per_tick_ = 1 / ticks_per_ns;
  chooser_.use(spec_, rank_, ticks_per_ns_);
  look_at_.store(recorder::now() + ticks_of(look_interval_ns), std::memory_order_relaxed);
}

void Sampler::meet(Node* node) noexcept {
  const Locked locked(*this);
  node_ = node;
  news_word_ = node->news_word();
  sends_.for_each([this](SendChannel& channel) {
    if (channel.destination >= 0) channel.place = place_of(channel.destination);
  });
  receives_.for_each_channel([this](ReceiveChannel& channel) {
    if (channel.origin >= 0) channel.place = place_of(channel.origin);
  });
  // Those who met earlier have told of messages that have been received meanwhile.
  for (std::uint32_t place = 0; place < node_->size(); ++place) {
    Mailbox* mailbox = node_->from(place);
    while (const MessageRecord* record = mailbox == nullptr ? nullptr : mailbox->first()) {
      if (is_past(*record))
        ++summary_->unpaired;
      else
        apply(*record);
      mailbox->pop();
    }
  }
  read_news();
  settle_news();
}

void Sampler::set_joining(bool (*join)() noexcept) noexcept {
  join_.store(join, std::memory_order_release);
  look_at_.store(0, std::memory_order_relaxed);
}

void Sampler::set_clock_offset(std::int64_t ahead_ns, std::uint64_t uncertainty_ns, std::int32_t rank) noexcept {
  ahead_ns_ = ahead_ns;
  uncertainty_ns_ = uncertainty_ns;
  compared_ = latest_ = recorder::read_clock_pair();
  summary_->clock_uncertainty_ns = uncertainty_ns;
  summary_->clock_rank = rank;
}

void Sampler::set_clock_at_end(std::int64_t ahead_ns, std::uint64_t uncertainty_ns) noexcept {
  summary_->clock_end_uncertainty_ns = uncertainty_ns;
  summary_->clock_drift_ns = ahead_ns - ahead_ns_;
  summary_->clock_span_ns = recorder::read_ns(CLOCK_MONOTONIC_RAW) - compared_.monotonic_ns;
}

// Crystals of servers drift by up to about 20 parts in a million against one another.
std::uint64_t Sampler::uncertainty_ns(std::uint64_t own_ns) const noexcept {
  return uncertainty_ns_ + (own_ns - compared_.monotonic_ns) / 50'000;
}

// A time in the clock in which nodes are compared. Both clocks of a node go at the rate of its processor, which two
// readings tell the better the further they lie apart: a time that is an eighth of that behind the last is close
// enough.
std::uint64_t Sampler::raw_ns_of(std::uint64_t ticks) noexcept {
  if (ticks - compared_.ticks >= (latest_.ticks - compared_.ticks) / 8 * 9) [[unlikely]] {
    latest_ = recorder::read_clock_pair();
    raw_ns_per_tick_ = static_cast<double>(latest_.monotonic_ns - compared_.monotonic_ns) /
                       static_cast<double>(latest_.ticks - compared_.ticks);
  }
  const auto since = static_cast<double>(static_cast<std::int64_t>(ticks - latest_.ticks));
  return latest_.monotonic_ns + static_cast<std::uint64_t>(static_cast<std::int64_t>(since * raw_ns_per_tick_));
}

const char* Sampler::change(const char* text) noexcept {
  if (!active()) return "this process does not sample: start it with tare run --sample none, or with what you want";
  asked_lock_.lock();
  Spec spec = asked_;
  const char* wrong = format::parse_sample_spec(text, spec);
  if (wrong == nullptr && spec.method == Method::write && !recorder::traced()) wrong = "write needs a trace (--trace)";
  if (wrong == nullptr) {
    asked_ = spec;
    asks_.store(true, std::memory_order_release);
    quick_sends_.store(false, std::memory_order_relaxed);
    look_at_.store(0, std::memory_order_relaxed);
    note_spec(text);
  }
  asked_lock_.unlock();
  return wrong;
}

// Puts into force what was asked for last. Called under the lock where threads share MPI, else by the one that is in
// it.
void Sampler::use_asked() noexcept {
  asked_lock_.lock();
  asks_.store(false, std::memory_order_relaxed);
  spec_ = asked_;
  asked_lock_.unlock();
  narrowed_ = spec_.narrowed();
  asks_for_names_.store(spec_.communicator[0] != '\0', std::memory_order_relaxed);
  changed_ = true;
  phase_ = 0;
  chooser_.use(spec_, rank_, ticks_per_ns_);
  settle();
  std::memset(verdicts_, 0, sizeof verdicts_);
}

void Sampler::note_spec(const char* text) noexcept { std::snprintf(summary_->spec, sizeof summary_->spec, "%s", text); }

void Sampler::finish() noexcept {
  if (!active()) return;
  listen();
  join_.store(nullptr, std::memory_order_relaxed);
  const Locked locked(*this);
  for (std::uint32_t place = 0; node_ != nullptr && place < node_->size(); ++place)
    if (Mailbox* mailbox = node_->from(place)) drain(*mailbox);
  if (node_ != nullptr) forget_doubted();
  summary_->unpaired += records_.forget_all();
  summary_->recordless += ring_.expecting();
  stop();
}

// ---- sends

// 1 + the place on this node of a rank of the world; 0: it is on another.
std::uint32_t Sampler::place_of(std::int32_t world_rank) const noexcept {
  for (std::uint32_t place = 0; node_ != nullptr && place < node_->size(); ++place)
    if (node_->rank(place) == world_rank) return place + 1;
  return 0;
}

SendChannel* Sampler::new_send_channel(const Endpoint& endpoint, std::int32_t peer, std::int32_t tag) noexcept {
  SendChannel channel{};
  channel.communicator = endpoint.communicator;
  channel.peer = peer;
  channel.tag = tag;
  channel.destination = rank_ < 0 || endpoint.key == 0 ? -1 : world_rank_(endpoint.peers, peer);
  if (channel.destination >= 0) {
    channel.id = channel_of(endpoint.key, rank_, channel.destination, tag);
    channel.place = place_of(channel.destination);
  }
  return sends_.add(channel);
}

bool Sampler::begin_send(Ticket& ticket, const Endpoint& endpoint, std::int32_t peer, std::int32_t tag, bool together,
                         bool muted, const Sent& sent) noexcept {
  const Locked locked(*this);
  if (asks_.load(std::memory_order_acquire)) [[unlikely]]
    use_asked();
  ticket.told = ticket.to_tell = ticket.ends = false;
  ticket.channel = sends_.find(endpoint.communicator, peer, tag);
  if (ticket.channel == nullptr) [[unlikely]] {
    ticket.channel = new_send_channel(endpoint, peer, tag);
    if (ticket.channel == nullptr) return ticket.ends;
  }
  SendChannel& channel = *ticket.channel;
  bool overlaps = false;
  ticket.ends = ticket.counted = shared_ || together;
  ticket.number = ticket.counted ? Sends::begin(channel, overlaps) : ++channel.count;
  ++summary_->sent;
  if (overlaps && channel.busy_chosen) retract(channel, channel.busy_since, false);
  if (muted) [[unlikely]]
    return ticket.ends;
  if (!chooser_.is_coordinated() && narrowed_ && !wanted(sent)) return ticket.ends;
  if (!chooser_.choose(channel.id, ticket.number)) [[likely]]
    return ticket.ends;
  if (chooser_.is_coordinated() && narrowed_ && !wanted(sent)) return ticket.ends;
  tell(channel, ticket, overlaps, sent);
  return ticket.ends;
}

bool Sampler::wanted(const Sent& sent) noexcept {
  if (sent.bytes < spec_.size_from || sent.bytes > spec_.size_to) return false;
  if (spec_.function != 0 && spec_.function != sent.function) return false;
  if (spec_.communicator[0] != '\0' && std::strcmp(spec_.communicator, sent.communicator) != 0) return false;
  if (spec_.phase[0] != '\0' && !in_wanted_phase()) return false;
  return spec_.site_count == 0 || wanted_site(sent.site);
}

bool Sampler::in_wanted_phase() noexcept {
  if (phase_ == 0) phase_ = recorder::find_phase(spec_.phase);
  const recorder::Location* location = recorder::here();
  return phase_ != 0 && location != nullptr && location->is_in_phase(phase_);
}

bool Sampler::wanted_site(std::uint32_t number) noexcept {
  SiteVerdict& verdict = verdicts_[number % verdicts];
  if (verdict.number == number) return verdict.wanted;
  const recorder::ErrnoGuard guard;
  verdict = {number, is_at_ != nullptr && is_at_(number, spec_)};
  return verdict.wanted;
}

void Sampler::tell(SendChannel& channel, Ticket& ticket, bool overlaps, const Sent& sent) noexcept {
  ++summary_->chosen;
  const float weight = chooser_.weight();
  if (channel.id == 0 || (channel.place == 0 && path_.tell == nullptr)) {
    ++summary_->unreachable;
    return;
  }
  if (overlaps) {
    ++summary_->ambiguous;
    return;
  }
  const auto describe = [&](MessageRecord& record) {
    record.channel = channel.id;
    record.number = ticket.number;
    record.bytes = sent.bytes;
    record.kind = RecordKind::message;
    record.site = sent.site;
    record.source = rank_;
    record.weight = weight;
    record.final = ticket.counted ? 0 : 1;
  };
  if (channel.place == 0) {
    ticket.ends = ticket.to_tell = true;
    describe(ticket.record);
    const std::uint64_t now = recorder::read_ns(CLOCK_MONOTONIC_RAW);
    ticket.record.start = first_node_ns(now);
    ticket.record.uncertainty_ns = static_cast<std::uint32_t>(uncertainty_ns(now));
    return;
  }
  if (channel.mailbox == nullptr) [[unlikely]]
    channel.mailbox = node_->to(channel.place - 1);
  ticket.told = channel.mailbox != nullptr && channel.mailbox->put(describe);
  if (!ticket.told) ++summary_->lost;
  channel.busy_chosen = ticket.told;
}

// What was said of a message on this node before it was known to be ambiguous. If that was said to be final, the
// receiver reads no further.
void Sampler::retract(SendChannel& channel, std::uint64_t number, bool final) noexcept {
  channel.busy_chosen = false;
  ++summary_->ambiguous;
  const auto describe = [&](MessageRecord& record) {
    record = {channel.id, number, 0, number, RecordKind::retract, 0, rank_, 0, 0, 0};
  };
  if (final || !channel.mailbox->put(describe)) node_->distrust(channel.place - 1);
}

void Sampler::ended_send(Ticket& ticket, bool success) noexcept {
  std::int32_t destination = -1;
  bool tells = false;
  {
    const Locked locked(*this);
    SendChannel& channel = *ticket.channel;
    const bool ambiguous = ticket.counted && Sends::end(channel);
    if (!success) {  // whether the message was sent nobody knows, nor the numbers of those behind
      if (ticket.told) retract(channel, ticket.number, !ticket.counted);
      channel.id = 0;
    } else if (ticket.to_tell) {
      if (ambiguous) ++summary_->ambiguous;
      tells = !ambiguous;
      destination = channel.destination;
    }
  }
  if (!tells || path_.tell(ticket.record, destination)) return;
  const Locked locked(*this);
  ++summary_->lost;
}

void Sampler::cancelling_send() noexcept {
  const Locked locked(*this);
  sends_.for_each([](SendChannel& channel) { channel.id = 0; });
  // Receivers cannot have taken a message behind the cancelled one yet.
  for (std::uint32_t place = 0; node_ != nullptr && place < node_->size(); ++place) node_->distrust(place);
  rank_ = -1;  // nor are channels named that are still to come
}

void Sampler::left_send(std::uint32_t communicator, std::int32_t peer, std::int32_t tag) noexcept {
  const Locked locked(*this);
  SendChannel* channel = sends_.find(communicator, peer, tag);
  if (channel == nullptr) return;
  if (channel->inside != 0) --channel->inside;
  if (channel->mailbox != nullptr) node_->distrust(channel->place - 1);  // it may have been told of
  channel->id = 0;
}

void Sampler::doubt_all() noexcept {
  cancelling_send();
  const Locked locked(*this);
  receives_.lose_all();
}

// ---- receives

std::uint32_t Sampler::new_receive_channel(const Endpoint& endpoint, std::int32_t source, std::int32_t tag) noexcept {
  ReceiveChannel channel{};
  channel.communicator = endpoint.communicator;
  channel.queue = receives_.queue_of(endpoint);
  if (channel.queue == 0) return 0;
  channel.source = source;
  channel.tag = tag;
  channel.origin = rank_ < 0 || endpoint.key == 0 ? -1 : world_rank_(endpoint.peers, source);
  if (channel.origin >= 0) {
    channel.id = channel_of(endpoint.key, channel.origin, rank_, tag);
    channel.place = place_of(channel.origin);
    if (channel.place != 0) channel.mailbox = node_->from(channel.place - 1);
  }
  return receives_.add_channel(channel);
}

void Sampler::received(const Endpoint& endpoint, const Pattern& message, const ReceiveTimes& times, std::uint64_t bytes,
                       std::uint32_t site) noexcept {
  if (ReceiveChannel* known = receives_.recent(endpoint.communicator, message.source, message.tag);
      known != nullptr && !known->lost) [[likely]] {
    ++summary_->received;
    known->completed = ++known->count;
    return numbered(*known, {times, known->count, bytes, site, false});
  }
  const std::uint32_t place = receive_channel(endpoint, message.source, message.tag);
  if (place == 0) [[unlikely]] {
    ++summary_->received;
    ++summary_->unnumbered;
    return;
  }
  ReceiveChannel& channel = receives_.channel(place);
  receives_.note(channel);
  if (receives_.in_doubt(channel.queue) || channel.lost) [[unlikely]]
    return received_in_doubt(place, times, bytes, site);
  ++summary_->received;
  channel.completed = ++channel.count;
  numbered(channel, {times, channel.count, bytes, site, false});
}

std::uint32_t Sampler::keep_posted(std::uint32_t numbered, std::uint64_t ticks, std::uint32_t site) noexcept {
  const std::uint32_t channel = place_of_posted(numbered);
  return receives_.keep(channel, number_of(receives_.channel(channel), numbered), ticks, site);
}

void Sampler::received_in_doubt(std::uint32_t channel, const ReceiveTimes& times, std::uint64_t bytes,
                                std::uint32_t site) noexcept {
  const ReceiveChannel& c = receives_.channel(channel);
  const std::uint32_t receive = receives_.post(c.queue, {c.source, c.tag}, channel, times.posted);
  if (receive == 0) return;
  Receive& r = receives_[receive];
  r.posted = times.posted;
  r.waited = times.waited;
  r.ended = times.ended;
  r.bytes = bytes;
  r.site = site;
  receives_.complete(receive, [this](const Receive& done) { resolved(done); });
}

std::uint32_t Sampler::post(const Endpoint& endpoint, Pattern pattern, bool together) noexcept {
  const Locked locked(*this);
  std::uint32_t channel = 0;
  std::uint32_t queue = 0;
  if (pattern.definite()) {
    channel = receive_channel(endpoint, pattern.source, pattern.tag);
    queue = channel == 0 ? 0 : receives_.channel(channel).queue;
    if (channel != 0) receives_.note(receives_.channel(channel));
  } else {
    queue = receives_.queue_of(endpoint);
  }
  if (queue == 0) return 0;
  const std::uint32_t receive = receives_.post(queue, pattern, channel, shared_ ? 0 : recorder::now());
  if (receive != 0 && (shared_ || together)) receives_.begin_posting(receive);
  return receive;
}

bool Sampler::match(std::uint32_t receive, const Pattern& message) noexcept {
  if (receive == 0) return false;
  const Locked locked(*this);
  const Receive& r = receives_[receive];
  if (r.matched) return true;
  const std::uint32_t channel = receive_channel(receives_.endpoint(r.queue), message.source, message.tag);
  const auto tell = [this](const Receive& done) { resolved(done); };
  if (channel != 0)
    receives_.match(receive, channel, tell);
  else
    receives_.lose(receive, tell);
  return channel != 0;
}

void Sampler::posted(std::uint32_t receive, bool together, std::uint64_t ticks, std::uint32_t site) noexcept {
  if (receive == 0) return;
  const Locked locked(*this);
  Receive& r = receives_[receive];
  r.posted = ticks;
  r.site = site;
  if (shared_ || together) receives_.end_posting(receive);
}

void Sampler::complete(std::uint32_t receive, std::uint64_t waited, std::uint64_t ended, std::uint64_t bytes) noexcept {
  if (receive == 0) return;
  const Locked locked(*this);
  Receive& r = receives_[receive];
  r.waited = waited;
  r.ended = ended;
  r.bytes = bytes;
  receives_.complete(receive, [this](const Receive& done) { resolved(done); });
}

void Sampler::doubt(std::uint32_t receive) noexcept {
  if (receive == 0) return;
  const Locked locked(*this);
  receives_.doubt(receive);
}

void Sampler::cancel(std::uint32_t receive) noexcept {
  if (receive == 0) return;
  const Locked locked(*this);
  if (shared_) receives_.end_posting(receive);
  receives_.cancel(receive, [this](const Receive& done) { resolved(done); });
}

void Sampler::drop(std::uint32_t receive) noexcept {
  if (receive == 0) return;
  const Locked locked(*this);
  if (shared_) receives_.end_posting(receive);
  receives_.drop(receive, [this](const Receive& done) { resolved(done); });
}

void Sampler::lose(std::uint32_t receive) noexcept {
  if (receive == 0) return;
  const Locked locked(*this);
  if (shared_) receives_.end_posting(receive);
  receives_.lose(receive, [this](const Receive& done) { resolved(done); });
}

void Sampler::forget_communicator(std::uint32_t communicator) noexcept {
  if (!active()) return;
  const Locked locked(*this);
  sends_.forget(communicator);
  receives_.forget(communicator, ring_);
}

// A receive is complete, and its number known, if anybody can know it.
void Sampler::resolved(const Receive& receive) noexcept {
  ++summary_->received;
  ReceiveChannel& channel = receives_.channel(receive.channel);
  if (receive.number == 0) {
    ++summary_->unnumbered;
    return;
  }
  numbered(channel, {{receive.posted, receive.waited, receive.ended},
                     receive.number,
                     receive.bytes,
                     receive.site,
                     receive.ambiguous});
}

void Sampler::numbered(ReceiveChannel& channel, const Received& received) noexcept {
  if (channel.place == 0) return numbered_elsewhere(channel, received);
  if (news() == quiet_ && !received.ambiguous) [[likely]] {
    const MessageRecord* first = channel.mailbox == nullptr ? nullptr : channel.mailbox->first();
    if (first == nullptr) return;
    if (first->number == received.number && first->channel == channel.id && first->final != 0) [[likely]] {
      pair(*first, channel, received);
      channel.mailbox->pop();
      next_record_ = channel.mailbox->next();
      return;
    }
  }
  numbered_here(channel, received);
}

// All that the source has told is read first: it may have retracted what it told of this message.
void Sampler::numbered_here(ReceiveChannel& channel, const Received& received) noexcept {
  if (news() != news_) [[unlikely]]
    read_news();
  MessageRecord record;
  bool found = false;
  Mailbox* mailbox = channel.mailbox;
  const MessageRecord* first = mailbox == nullptr ? nullptr : mailbox->first();
  if (first != nullptr && first->number == received.number && first->channel == channel.id &&
      first->kind == RecordKind::message) {  // as it nearly always is: without a way through the table
    record = *first;
    mailbox->pop();
    first = mailbox->first();
    found = first == nullptr && node_->doubted() == doubts_;
    if (!found) apply(record);
  }
  if (first != nullptr) drain(*mailbox);
  if (node_->doubted() != doubts_) [[unlikely]]
    forget_doubted();
  if (found || records_.take(channel.id, received.number, record))
    pair(record, channel, received);
  else if (received.ambiguous)  // it may have taken a message that was sent before the one whose number it has
    ring_.keep(receives_.place_of(channel), channel, received, false);
  settle_news();
}

void Sampler::numbered_elsewhere(ReceiveChannel& channel, const Received& received) noexcept {
  if (known_unchosen(channel, received.number)) return;
  MessageRecord record;
  if (!records_.empty() && records_.take(channel.id, received.number, record)) {
    pair(record, channel, received);
    return settle_news();
  }
  const bool expected = chooser_.is_coordinated() && !changed_ && !narrowed_;
  if (ring_.keep(receives_.place_of(channel), channel, received, expected)) ++summary_->recordless;
  if (expected || ring_.turn() % listen_every == 0) listens_.store(true, std::memory_order_relaxed);
}

void Sampler::listen() noexcept {
  listens_.store(false, std::memory_order_relaxed);
  if (path_.listen == nullptr) return;
  MessageRecord record;
  while (path_.listen(record)) {
    const Locked locked(*this);
    apply(record);
    settle_news();
  }
}

void Sampler::drain(Mailbox& mailbox) noexcept {
  while (const MessageRecord* record = mailbox.first()) {
    apply(*record);
    mailbox.pop();
  }
}

// Somebody on this node has opened a mailbox to here, or doubts what it said.
void Sampler::read_news() noexcept {
  news_ = news();
  receives_.for_each_channel([this](ReceiveChannel& channel) {
    if (channel.place != 0 && channel.mailbox == nullptr) channel.mailbox = node_->from(channel.place - 1);
  });
}

// Nothing that was told before somebody's doubts holds.
void Sampler::forget_doubted() noexcept {
  const std::uint32_t doubts = node_->doubted();
  if (doubts == doubts_) return;
  doubts_ = doubts;
  for (std::uint32_t place = 0; place < node_->size(); ++place)
    if (Mailbox* mailbox = node_->from(place)) drain(*mailbox);
  summary_->unpaired += records_.forget_all();
}

// Whether a record tells of a message that has probably been received, and that nobody remembers: its sender told, and
// this rank had not met it yet. Not to be asked later: receives complete in any order.
bool Sampler::is_past(const MessageRecord& record) noexcept {
  const std::uint32_t place = receives_.find_channel(record.channel);
  if (place == 0) return false;
  const ReceiveChannel& channel = receives_.channel(place);
  return record.number <= channel.completed && channel.under_way == 0 && !ring_.has(place, channel, record.number);
}

void Sampler::apply(const MessageRecord& record) noexcept {
  if (record.kind == RecordKind::retract) {
    records_.forget(record.channel, record.number, record.bytes);
    return;
  }
  if (record.kind != RecordKind::message) return;
  const std::uint32_t place = ring_.turn() == 0 ? 0 : receives_.find_channel(record.channel);
  Received received;
  if (place != 0 && ring_.take(place, receives_.channel(place), record.number, received))
    pair(record, receives_.channel(place), received);
  else if (!records_.keep(record))
    ++summary_->unpaired;
}

void Sampler::pair(const MessageRecord& record, const ReceiveChannel& channel, const Received& received) noexcept {
  if (received.ambiguous) [[unlikely]] {
    ++summary_->ambiguous_received;
    return;
  }
  if (record.bytes != received.bytes && received.bytes != format::no_bytes) [[unlikely]] {
    ++summary_->contradictory;
    return;
  }
  ++summary_->paired;
  const recorder::Location* here = recorder::this_location;
  if (spec_.method == Method::off || (here != nullptr && here->mode == recorder::Mode::paused)) return;
  const ReceiveTimes& times = received.times;
  const bool between_nodes = channel.place == 0;
  Pair pair{record.source, record.site, received.site, record.bytes, 0, 0, 0, 0, record.weight, between_nodes, 0};
  if (between_nodes) {
    const std::uint64_t ended_ns = raw_ns_of(times.ended);
    pair.start = static_cast<std::int64_t>(record.start);
    pair.ended = static_cast<std::int64_t>(first_node_ns(ended_ns));
    pair.uncertainty_ns = uncertainty_ns(ended_ns) + record.uncertainty_ns;
  } else {
    pair.ended = ns_of(times.ended - record.start);
  }
  pair.posted = pair.ended - ns_of(times.ended - times.posted);
  pair.waited = pair.ended - ns_of(times.ended - times.waited);
  classes_.add(pair, spec_.method == Method::freq);
  if (spec_.method == Method::write) write(pair, record.number, channel);
}

// As an event of the trace, when both sides are known; times in nanoseconds.
void Sampler::write(const Pair& pair, std::uint64_t number, const ReceiveChannel& channel) noexcept {
  recorder::Location* location = recorder::here();
  if (location == nullptr || !location->traced()) return;
  if (event_type_ == 0) {
    using Type = format::ParameterType;
    event_type_ = recorder::register_event_type({format::EventClass::regular,
                                                 10,
                                                 {Type::i32, Type::u32, Type::i32, Type::u64, Type::u64, Type::u32,
                                                  Type::u32, Type::i64, Type::i64, Type::i64}},
                                                "tare.message", "");
    if (event_type_ == 0) return;
  }
  const auto since_start = [&](std::int64_t time) { return static_cast<std::uint64_t>(time - pair.start); };
  const std::uint64_t parameters[] = {static_cast<std::uint32_t>(pair.source),
                                      channel.communicator,
                                      static_cast<std::uint32_t>(channel.tag),
                                      pair.bytes,
                                      number,
                                      pair.send_site,
                                      pair.receive_site,
                                      since_start(pair.posted),
                                      since_start(pair.waited),
                                      since_start(pair.ended)};
  location->commit_event(event_type_, recorder::now(), parameters, 10);
}

// ---- what the user says meanwhile

void Sampler::look_around(std::uint64_t ticks) noexcept {
  std::uint64_t due = look_at_.load(std::memory_order_relaxed);
  if (!active() || ticks < due) return;
  const auto join = join_.load(std::memory_order_acquire);
  const std::uint64_t interval_ns = join == nullptr ? look_interval_ns : join_interval_ns;
  if (!look_at_.compare_exchange_strong(due, ticks + ticks_of(interval_ns))) return;
  const recorder::ErrnoGuard guard;
  if (join != nullptr && join()) join_.store(nullptr, std::memory_order_relaxed);
  if (is_to_look_at_file()) look_at_file();
  if (!asks_.load(std::memory_order_acquire)) return;
  const Locked locked(*this);
  use_asked();
}

// One rank of a node asks the file system, once a second; the others ask its memory.
bool Sampler::is_to_look_at_file() noexcept {
  const std::uint64_t now_ns = recorder::read_ns(CLOCK_MONOTONIC_RAW);
  if (node_ != nullptr) return node_->is_to_look(now_ns, file_interval_ns) || node_->version() != file_version_;
  if (now_ns - file_looked_ns_ < file_interval_ns) return false;
  file_looked_ns_ = now_ns;
  return true;
}

void Sampler::look_at_file() noexcept {
  const char* run_dir = getenv("TARE_RUN_DIR");
  if (run_dir == nullptr) return;
  char path[768];
  std::snprintf(path, sizeof path, "%s/sample", run_dir);
  struct stat status {};
  if (stat(path, &status) != 0) return;
  const std::uint64_t changed_ns = static_cast<std::uint64_t>(status.st_mtim.tv_sec) * 1'000'000'000U +
                                   static_cast<std::uint64_t>(status.st_mtim.tv_nsec);
  const std::uint64_t version = mix(changed_ns) + static_cast<std::uint64_t>(status.st_size);
  if (node_ != nullptr) node_->note_version(version);
  if (version == file_version_) return;
  char text[4096];
  const long bytes = recorder::read_file(path, text, sizeof text - 1);
  if (bytes <= 0) return;  // it is just being written
  file_version_ = version;
  text[bytes] = '\0';
  text[std::strcspn(text, "\n")] = '\0';
  const char* wrong = bytes < static_cast<long>(sizeof text) - 1 ? change(text) : "it has at most 4094 bytes";
  if (wrong == nullptr || (node_ != nullptr && !node_->is_first_to_see(version))) return;
  char line[1024];
  std::snprintf(line, sizeof line, "%s: %s; nothing changes", path, wrong);
  recorder::complain(line);
}

}  // namespace tare::mpi::sampling
