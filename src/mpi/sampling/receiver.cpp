// The receiving part of the sampler of a process: numbers receives (receives.h).
#include "mpi/sampling/sampler.h"
#include "recorder/clock.h"

namespace tare::mpi::sampling {

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
  if (receives_.has_waiting(channel.queue) || channel.lost) [[unlikely]]
    return received_behind_open(place, times, bytes, site);
  ++summary_->received;
  channel.completed = ++channel.count;
  numbered(channel, {times, channel.count, bytes, site, false});
}

void Sampler::received_behind_open(std::uint32_t channel, const ReceiveTimes& times, std::uint64_t bytes,
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

std::uint32_t Sampler::keep_posted(std::uint32_t numbered, std::uint64_t ticks, std::uint32_t site) noexcept {
  const std::uint32_t channel = place_of_posted(numbered);
  return receives_.keep(channel, number_of(receives_.channel(channel), numbered), ticks, site);
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

void Sampler::posted(std::uint32_t receive, bool together, std::uint64_t ticks, std::uint32_t site) noexcept {
  if (receive == 0) return;
  const Locked locked(*this);
  Receive& r = receives_[receive];
  r.posted = ticks;
  r.site = site;
  if (shared_ || together) receives_.end_posting(receive);
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

void Sampler::complete(std::uint32_t receive, std::uint64_t waited, std::uint64_t ended, std::uint64_t bytes) noexcept {
  if (receive == 0) return;
  const Locked locked(*this);
  Receive& r = receives_[receive];
  r.waited = waited;
  r.ended = ended;
  r.bytes = bytes;
  receives_.complete(receive, [this](const Receive& done) { resolved(done); });
}

void Sampler::cancel_requested(std::uint32_t receive) noexcept {
  if (receive == 0) return;
  const Locked locked(*this);
  receives_.cancel_requested(receive);
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

// A receive is complete, and its number known unless it never can be.
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

}  // namespace tare::mpi::sampling
