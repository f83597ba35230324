// The sending part of the sampler of a process: numbers messages, and passes records of chosen ones on.
#include "format/functions.h"
#include "mpi/sampling/sampler.h"
#include "recorder/clock.h"
#include "recorder/event_types.h"
#include "recorder/here.h"

namespace tare::mpi::sampling {

// 1 + the place on this node of a rank of the world; 0: it is on another node.
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
  {
    const Locked locked(*this);
    if (asks_.load(std::memory_order_acquire)) [[unlikely]]
      use_asked();
    ticket.reported = ticket.to_report = ticket.ends = false;
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
    if (overlaps && channel.busy_chosen) {
      ++summary_->ambiguous;
      retract(channel, channel.busy_since);
    }
    if (muted) [[unlikely]]
      return ticket.ends;
    if (!chooser_.is_coordinated() && narrowed_ && !filter_.accepts(spec_, sent)) return ticket.ends;
    if (!chooser_.is_user()) [[likely]] {
      if (!chooser_.choose(channel.id, ticket.number)) [[likely]]
        return ticket.ends;
      if (chooser_.is_coordinated() && narrowed_ && !filter_.accepts(spec_, sent)) return ticket.ends;
      announce(channel, ticket, overlaps, sent, chooser_.weight());
      return ticket.ends;
    }
  }
  ask_user(ticket, endpoint, sent);
  return ticket.ends;
}

// The user's code chooses, while nothing is locked. Another thread may begin to send on the channel meanwhile.
void Sampler::ask_user(Ticket& ticket, const Endpoint& endpoint, const Sent& sent) noexcept {
  SendChannel& channel = *ticket.channel;
  const recorder::Location* location = recorder::here();
  const tare_message message{channel.id,
                             ticket.number,
                             sent.bytes,
                             endpoint.key,
                             rank_,
                             channel.destination,
                             channel.tag,
                             sent.site,
                             user_.key_of(sent.site),
                             format::function_name(sent.function),
                             location == nullptr ? "" : recorder::name_of_phase(location->phases.current->type),
                             static_cast<std::int64_t>(recorder::read_ns(CLOCK_MONOTONIC_RAW)),
                             chooser_.random_of(channel.id, ticket.number)};
  float weight = 0;
  if (!user_.choose(message, weight)) return;
  const Locked locked(*this);
  announce(channel, ticket, ticket.counted && channel.count != channel.busy_since, sent, weight);
}

void Sampler::announce(SendChannel& channel, Ticket& ticket, bool overlaps, const Sent& sent, float weight) noexcept {
  ++summary_->chosen;
  if (channel.id == 0 || (channel.place == 0 && path_.send == nullptr)) {
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
    ticket.ends = ticket.to_report = true;
    describe(ticket.record);
    const std::uint64_t now = recorder::read_ns(CLOCK_MONOTONIC_RAW);
    ticket.record.start = clock_.first_node_ns(now);
    ticket.record.uncertainty_ns = static_cast<std::uint32_t>(clock_.uncertainty_ns(now));
    return;
  }
  if (channel.mailbox == nullptr) [[unlikely]]
    channel.mailbox = node_->to(channel.place - 1);
  ticket.reported = channel.mailbox != nullptr && channel.mailbox->put(mask_, describe);
  if (!ticket.reported) ++summary_->lost;
  channel.busy_chosen = ticket.reported;
}

// Retracts the record of a message on this node. The receiver does not look for retractions of records that are marked
// as final.
void Sampler::retract(SendChannel& channel, std::uint64_t number) noexcept {
  channel.busy_chosen = false;
  const auto describe = [&](MessageRecord& record) {
    record = {channel.id, number, 0, number, RecordKind::retract, 0, rank_, 0, 0, 0};
  };
  if (!channel.mailbox->put(mask_, describe)) node_->retract_all(channel.place - 1);
}

void Sampler::ended_send(Ticket& ticket, Outcome outcome) noexcept {
  std::int32_t destination = -1;
  bool tells = false;
  {
    const Locked locked(*this);
    SendChannel& channel = *ticket.channel;
    const bool ambiguous = ticket.counted && Sends::end(channel);
    if (outcome != Outcome::sent && ticket.reported) {
      if (!ticket.counted) channel.mailbox->make_last_not_final(mask_);
      retract(channel, ticket.number);
    }
    const bool is_chosen = ticket.reported || ticket.to_report;
    if (outcome == Outcome::refused && !ambiguous && channel.count == ticket.number) {
      if (is_chosen) --summary_->chosen;
      take_back(channel);
    } else if (outcome != Outcome::sent) {  // whether it was sent is not known, so later numbers are not, either
      if (is_chosen) ++summary_->ambiguous;
      channel.id = 0;
    } else if (ticket.to_report) {
      if (ambiguous) ++summary_->ambiguous;
      tells = !ambiguous;
      destination = channel.destination;
    }
  }
  if (!tells || path_.send(ticket.record, destination)) return;
  const Locked locked(*this);
  ++summary_->lost;
}

void Sampler::cancelling_send() noexcept {
  const Locked locked(*this);
  sends_.for_each([](SendChannel& channel) { channel.id = 0; });
  // Receivers cannot have taken messages after the cancelled one yet.
  for (std::uint32_t place = 0; node_ != nullptr && place < node_->size(); ++place) node_->retract_all(place);
  rank_ = -1;  // channels that are still to come get no identifier, either
}

void Sampler::left_send(std::uint32_t communicator, std::int32_t peer, std::int32_t tag) noexcept {
  const Locked locked(*this);
  SendChannel* channel = sends_.find(communicator, peer, tag);
  if (channel == nullptr) return;
  if (channel->inside != 0) --channel->inside;
  if (channel->mailbox != nullptr) node_->retract_all(channel->place - 1);  // there may be a record of it
  channel->id = 0;
}

}  // namespace tare::mpi::sampling
