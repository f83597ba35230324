// Pairing: a sender's record of a message and the receive that took the message.
#include <algorithm>

#include "format/time_arithmetic.h"
#include "mpi/sampling/sampler.h"
#include "recorder/locations.h"

namespace tare::mpi::sampling {

void Sampler::numbered(ReceiveChannel& channel, const Received& received) noexcept {
  if (channel.place == 0) return numbered_elsewhere(channel, received);
  if (changes() == quiet_ && !received.ambiguous) [[likely]] {
    const MessageRecord* first = channel.mailbox == nullptr ? nullptr : channel.mailbox->first(mask_);
    if (first == nullptr) return;
    if (first->number == received.number && first->channel == channel.id && first->final != 0) [[likely]] {
      pair(*first, channel, received);
      channel.mailbox->pop();
      next_record_ = channel.mailbox->next(mask_);
      return;
    }
  }
  numbered_here(channel, received);
}

// Reads all records of the source first, because it may have retracted the record of this message.
void Sampler::numbered_here(ReceiveChannel& channel, const Received& received) noexcept {
  if (changes() != changes_read_) [[unlikely]]
    read_changes();
  MessageRecord record;
  bool found = false;
  Mailbox* mailbox = channel.mailbox;
  const MessageRecord* first = mailbox == nullptr ? nullptr : mailbox->first(mask_);
  if (first != nullptr && first->number == received.number && first->channel == channel.id &&
      first->kind == RecordKind::message) {  // the usual case: without the table of records
    record = *first;
    mailbox->pop();
    first = mailbox->first(mask_);
    found = first == nullptr && node_->retracted() == retractions_read_;
    if (!found) apply(record);
  }
  if (first != nullptr) drain(*mailbox);
  if (node_->retracted() != retractions_read_) [[unlikely]]
    remove_retracted();
  if (found || records_.take(channel.id, received.number, record))
    pair(record, channel, received);
  else if (received.ambiguous)  // it may have taken an earlier message than its number says
    ring_.keep(receives_.place_of(channel), channel, received, false);
  settle_quiet();
}

void Sampler::numbered_elsewhere(ReceiveChannel& channel, const Received& received) noexcept {
  if (known_unchosen(channel, received.number)) return;
  MessageRecord record;
  if (!records_.empty() && records_.take(channel.id, received.number, record)) {
    pair(record, channel, received);
    return settle_quiet();
  }
  const bool expected = chooser_.is_coordinated() && !changed_ && !narrowed_;
  if (ring_.keep(receives_.place_of(channel), channel, received, expected)) ++summary_->recordless;
  if (expected || ring_.turn() % listen_every == 0) listens_.store(true, std::memory_order_relaxed);
}

void Sampler::listen() noexcept {
  listens_.store(false, std::memory_order_relaxed);
  MessageRecord record;
  while (path_.listen != nullptr && path_.listen(record)) {
    const Locked locked(*this);
    apply(record);
    settle_quiet();
  }
  user_.analyse();
}

void Sampler::drain(Mailbox& mailbox) noexcept {
  mailbox.take_all(mask_, [this](const MessageRecord& record) { apply(record); });
}

// Another rank of this node has opened a mailbox to this rank, or retracted its records.
void Sampler::read_changes() noexcept {
  changes_read_ = changes();
  receives_.for_each_channel([this](ReceiveChannel& channel) {
    if (channel.place != 0 && channel.mailbox == nullptr) channel.mailbox = node_->from(channel.place - 1);
  });
}

// Drops all records, because a sender has retracted earlier ones.
void Sampler::remove_retracted() noexcept {
  const std::uint32_t retractions = node_->retracted();
  if (retractions == retractions_read_) return;
  retractions_read_ = retractions;
  for (std::uint32_t place = 0; place < node_->size(); ++place)
    if (Mailbox* mailbox = node_->from(place)) drain(*mailbox);
  summary_->unpaired += records_.remove_all();
}

// Whether a record belongs to a message that was received before this rank joined the node's memory, and was not kept.
// This must be checked when the record comes: later it cannot be told, because receives complete in any order.
bool Sampler::is_past(const MessageRecord& record) noexcept {
  const std::uint32_t place = receives_.find_channel(record.channel);
  if (place == 0) return false;
  const ReceiveChannel& channel = receives_.channel(place);
  return record.number <= channel.completed && channel.under_way == 0 && !ring_.has(place, channel, record.number);
}

void Sampler::apply(const MessageRecord& record) noexcept {
  if (record.kind == RecordKind::retract) {
    records_.remove(record.channel, record.number, record.bytes);
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
  if (becomes_ == 0 || (here != nullptr && here->mode == recorder::Mode::paused)) return;
  const ReceiveTimes& times = received.times;
  const bool between_nodes = channel.place == 0;
  Pair pair{record.source, record.site, received.site, record.bytes, 0, 0, 0, 0, record.weight, between_nodes, 0};
  if (between_nodes) {
    const std::uint64_t ended_ns = clock_.raw_ns_of(times.ended);
    pair.start = static_cast<std::int64_t>(record.start);
    pair.ended = static_cast<std::int64_t>(clock_.first_node_ns(ended_ns));
    pair.uncertainty_ns = clock_.uncertainty_ns(ended_ns) + record.uncertainty_ns;
  } else {
    pair.ended = clock_.ns_of(times.ended - record.start);
  }
  pair.posted = format::difference(pair.ended, clock_.ns_of(times.ended - times.posted));
  pair.waited = format::difference(pair.ended, clock_.ns_of(times.ended - times.waited));
  classes_.add(pair, (becomes_ & in_histogram) != 0);
  if ((becomes_ & passed_on) == 0) [[likely]]
    return;
  if (spec_.method == Method::write) events_.write(pair, record.number, channel);
  if (user_.analyses()) keep_for_analysis(pair, record.number, channel, received);
}

void Sampler::keep_for_analysis(const Pair& pair, std::uint64_t number, const ReceiveChannel& channel,
                                const Received& received) noexcept {
  std::int64_t origin = 0;
  if (!pair.between_nodes) {  // the times of the pair are relative to its start
    const format::ClockPair now = recorder::read_clock_pair();
    const std::int64_t ago = clock_.ns_of(now.ticks - received.times.ended);
    origin = static_cast<std::int64_t>(now.monotonic_ns) - ago - pair.ended;
  }
  const auto at = [&](std::int64_t time) { return format::sum(origin, time); };
  const std::int64_t latency = format::difference(pair.ended, pair.start);
  user_.keep({channel.id, number, pair.bytes, receives_.endpoint(channel.queue).key, pair.source, rank_, channel.tag,
              pair.send_site, pair.receive_site,
              static_cast<std::uint32_t>(std::min<std::uint64_t>(pair.uncertainty_ns, UINT32_MAX)),
              user_.key_of(pair.receive_site), at(pair.start), at(pair.posted), at(pair.waited), at(pair.ended),
              latency > 0 ? latency : 0, pair.weight});
  listens_.store(true, std::memory_order_relaxed);
}

}  // namespace tare::mpi::sampling
