#include "mpi/sampling/receives.h"

#include "mpi/sampling/received_ring.h"

namespace tare::mpi::sampling {

std::uint32_t Receives::queue_of(const Endpoint& endpoint) noexcept {
  const std::uint64_t h = hash_of(endpoint.communicator);
  const auto is_it = [&](std::uint32_t place) { return queues_[place].endpoint.communicator == endpoint.communicator; };
  const std::uint32_t known = queue_index_.find(h, is_it);
  if (known != 0) return known;
  const std::uint32_t place = queues_.take();
  if (place == 0) return 0;
  queues_[place] = {};
  queues_[place].endpoint = endpoint;
  if (all_lost_) queues_[place].lost[queues_[place].lost_patterns++] = {any, any};
  if (queue_index_.put(h, place)) return place;
  queues_.give_back(place);
  return 0;
}

std::uint32_t Receives::add_channel(const ReceiveChannel& channel) noexcept {
  const std::uint32_t place = channels_.take();
  if (place == 0) return 0;
  ReceiveChannel& c = channels_[place] = channel;
  c.posts = place < numbered_bit >> number_bits ? numbered_bit | place << number_bits : 0;
  const ReceiveQueue& queue = queues_[c.queue];
  for (std::uint32_t i = 0; i < queue.lost_patterns; ++i)
    if (queue.lost[i].covers(c.source, c.tag)) c.lose();
  const std::uint64_t h = hash(c.communicator, c.source, c.tag);
  if (channel_index_.put(h, place)) {
    if (c.id == 0 || named_index_.put(c.id, place)) return place;
    channel_index_.remove(h, place);
  }
  channels_.give_back(place);
  return 0;
}

std::uint32_t Receives::post(std::uint32_t queue, const Pattern& pattern, std::uint32_t channel,
                             std::uint64_t ticks) noexcept {
  const std::uint32_t place = receives_.take();
  if (place == 0) {
    lose_pattern(queue, pattern);
    return 0;
  }
  Receive& r = receives_[place];
  r = {};
  r.queue = queue;
  r.pattern = pattern;
  r.channel = channel;
  r.matched = channel != 0;
  r.open = channel == 0;
  r.order = order_ = ticks > order_ ? ticks : order_ + 1;
  ReceiveQueue& q = queues_[queue];
  if (r.open || (q.first != 0 && is_overlapped(q, pattern.source, pattern.tag)))
    append(q, place);
  else
    number(place);
  return place;
}

std::uint32_t Receives::keep(std::uint32_t channel, std::uint64_t number, std::uint64_t ticks,
                             std::uint32_t site) noexcept {
  ReceiveChannel& c = channels_[channel];
  --c.under_way;
  const std::uint32_t place = receives_.take();
  if (place == 0) {
    c.lose();
    return 0;
  }
  Receive& r = receives_[place];
  r = {};
  r.queue = c.queue;
  r.pattern = {c.source, c.tag};
  r.channel = channel;
  r.number = number;
  r.matched = true;
  r.order = r.posted = ticks;
  r.site = site;
  return place;
}

// Whether a receive in the queue, which was posted earlier, may take messages of the channel.
bool Receives::is_overlapped(const ReceiveQueue& queue, std::int32_t source, std::int32_t tag) const noexcept {
  for (std::uint32_t at = queue.first; at != 0; at = receives_[at].behind)
    if (receives_[at].pattern.covers(source, tag)) return true;
  return false;
}

void Receives::begin_posting(std::uint32_t receive) noexcept {
  Receive& mine = receives_[receive];
  for (std::uint32_t i = 0; i < posting_count_; ++i) {
    Receive& other = receives_[posting_[i]];
    if (other.queue == mine.queue && other.pattern.overlaps(mine.pattern)) other.ambiguous = mine.ambiguous = true;
  }
  if (posting_count_ < max_posting)
    posting_[posting_count_++] = receive;
  else
    mine.ambiguous = true;
}

void Receives::end_posting(std::uint32_t receive) noexcept {
  for (std::uint32_t i = 0; i < posting_count_; ++i) {
    if (posting_[i] != receive) continue;
    posting_[i] = posting_[--posting_count_];
    return;
  }
}

void Receives::append(ReceiveQueue& queue, std::uint32_t receive) noexcept {
  Receive& r = receives_[receive];
  r.listed = true;
  ++listed_;
  r.before = queue.last;
  r.behind = 0;
  (queue.last == 0 ? queue.first : receives_[queue.last].behind) = receive;
  queue.last = receive;
}

void Receives::insert_by_order(ReceiveQueue& queue, std::uint32_t receive) noexcept {
  Receive& r = receives_[receive];
  std::uint32_t behind = queue.first;
  while (behind != 0 && receives_[behind].order < r.order) behind = receives_[behind].behind;
  if (behind == 0) return append(queue, receive);
  r.listed = true;
  ++listed_;
  r.behind = behind;
  r.before = receives_[behind].before;
  receives_[behind].before = receive;
  (r.before == 0 ? queue.first : receives_[r.before].behind) = receive;
}

void Receives::unlink(std::uint32_t receive) noexcept {
  Receive& r = receives_[receive];
  ReceiveQueue& queue = queues_[r.queue];
  (r.before == 0 ? queue.first : receives_[r.before].behind) = r.behind;
  (r.behind == 0 ? queue.last : receives_[r.behind].before) = r.before;
  r.listed = false;
  --listed_;
}

void Receives::number(std::uint32_t receive) noexcept {
  Receive& r = receives_[receive];
  ReceiveChannel& c = channels_[r.channel];
  ++c.count;
  r.number = c.lost ? 0 : c.count;
}

void Receives::lose_pattern(std::uint32_t queue, const Pattern& pattern) noexcept {
  ReceiveQueue& q = queues_[queue];
  constexpr std::uint32_t most = sizeof q.lost / sizeof q.lost[0];
  if (q.lost_patterns == most)
    q.lost[most - 1] = {any, any};
  else
    q.lost[q.lost_patterns++] = pattern;
  const Pattern& lost = q.lost[q.lost_patterns - 1];
  for (std::uint32_t place = 1; place <= channels_.last(); ++place) {
    ReceiveChannel& c = channels_[place];
    if (channels_.taken(place) && c.queue == queue && lost.covers(c.source, c.tag)) c.lose();
  }
}

void Receives::lose_numbers() noexcept {
  all_lost_ = true;
  for (std::uint32_t place = 1; place <= queues_.last(); ++place)
    if (queues_.taken(place)) lose_pattern(place, {any, any});
}

void Receives::cancel_requested(std::uint32_t receive) noexcept {
  Receive& r = receives_[receive];
  if (r.open || r.completed) return;
  ReceiveChannel& c = channels_[r.channel];
  ReceiveQueue& queue = queues_[r.queue];
  if (r.listed) {  // its number is not known, so later numbers are not, either
    r.open = true;
    r.matched = false;
    return;
  }
  // A later receive of the channel has completed, so this one has taken an earlier message.
  if (c.completed > r.number || c.lost || !r.pattern.definite()) return;
  const std::uint64_t first = r.number;
  for (std::uint32_t place = 1; place <= receives_.last(); ++place) {
    Receive& later = receives_[place];
    if (!receives_.taken(place) || later.listed || later.channel != r.channel || later.number < first) continue;
    later.number = 0;
    insert_by_order(queue, place);
  }
  c.count = first - 1;
  r.open = true;
  r.matched = false;
}

void Receives::remove(std::uint32_t communicator, const ReceivedRing& ring) noexcept {
  const auto is_it = [&](std::uint32_t place) { return queues_[place].endpoint.communicator == communicator; };
  const std::uint32_t queue = queue_index_.find(hash_of(communicator), is_it);
  if (queue == 0 || queues_[queue].first != 0) return;
  for (std::uint32_t place = 1; place <= receives_.last(); ++place)
    if (receives_.taken(place) && receives_[place].queue == queue) return;  // MPI still has it
  for (std::uint32_t place = 1; place <= channels_.last(); ++place)
    if (channels_.taken(place) && channels_[place].queue == queue && channels_[place].under_way != 0) return;
  memo_.clear();
  ++generation_;
  for (std::uint32_t place = 1; place <= channels_.last(); ++place) {
    ReceiveChannel& c = channels_[place];
    if (!channels_.taken(place) || c.queue != queue) continue;
    channel_index_.remove(hash(c.communicator, c.source, c.tag), place);
    c.queue = 0;
  }
  remove_retired(ring);
  queue_index_.remove(hash_of(communicator), queue);
  queues_.give_back(queue);
}

void Receives::remove_retired(const ReceivedRing& ring) noexcept {
  for (std::uint32_t place = 1; place <= channels_.last(); ++place) {
    const ReceiveChannel& c = channels_[place];
    if (!channels_.taken(place) || c.queue != 0 || ring.may_have(c)) continue;
    if (c.id != 0) named_index_.remove(c.id, place);
    channels_.give_back(place);
  }
}

}  // namespace tare::mpi::sampling
