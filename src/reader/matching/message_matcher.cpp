#include "reader/matching/message_matcher.h"

#include <algorithm>
#include <utility>

#include "format/function_meaning.h"

namespace tare::reader {

using namespace tare::format;

namespace {

constexpr std::size_t max_cancellable = 4096;  // receives of a channel that wait for an older one

}  // namespace

MessageMatcher::MessageMatcher(Run& run, const TraceGaps& gaps, std::vector<Message>* messages, std::vector<End>* ends)
    : run_(run), gaps_(gaps), crossing_(run), messages_(messages), ends_(ends) {}

MessageMatcher::Slot MessageMatcher::make(const EventRow& row, const PartCall& call, const Channel& channel,
                                          Direction direction) {
  Slot slot = 0;
  if (free_slots_.empty()) {
    slot = static_cast<Slot>(halves_.size());
    halves_.emplace_back();
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  halves_[slot] = {{row.rank, false, call, {}, no_bytes}, channel, row.world, none, 0, direction, false, false, false};
  return slot;
}

MessageMatcher::Slot MessageMatcher::send(const EventRow& row, const PartCall& call, const Transfer& of) {
  if (of.peer < 0 || of.peer_world < 0 || !is_known(of.communicator) || gaps_.has_rank(row.world, of.peer_world))
    return none;
  const Slot slot = make(row, call, {of.communicator, row.rank, of.peer_world, of.tag, of.epoch}, Direction::sent);
  halves_[slot].part.bytes = of.bytes;
  pair(slot);
  return slot;
}

MessageMatcher::Slot MessageMatcher::receive(Receives& receives, const EventRow& row, const PartCall& call,
                                             const Transfer& of, bool is_complete) {
  const bool is_open = of.peer == any_source || of.tag == any_tag || of.peer == no_peer || of.tag == no_tag;
  if (of.peer == proc_null || !is_known(of.communicator)) return none;
  if (is_open ? is_complete : of.peer_world < 0) return none;  // it is not known which message it took
  if (of.peer_world >= 0 && gaps_.has_rank(row.world, of.peer_world)) return none;
  if (meaning_of(row.function).receives_matched())
    if (const Slot probed = receive_probed(receives, row, of); probed != none) return probed;
  const std::int32_t source = of.peer < 0 ? any_source : of.peer_world;
  const std::int32_t tag = of.tag < 0 ? any_tag : of.tag;
  const Slot slot = make(row, call, {of.communicator, source, row.rank, tag, of.epoch}, Direction::received);
  halves_[slot].part.bytes = is_complete ? of.bytes : no_bytes;
  Queue& queue = queue_of(halves_[slot], row.rank);
  if (queue.open == 0) halves_[slot].part.queued = queue.messages;
  if (is_open) ++queue.open;
  halves_[slot].is_open = is_open;
  if (receives.posted.post(slot, {of.communicator, source, tag})) pair(slot);
  return slot;
}

MessageMatcher::Slot MessageMatcher::receive_of_exchange(Receives& receives, const EventRow& row, const PartCall& call,
                                                         const Transfer& of, bool is_complete) {
  const Slot slot = receive(receives, row, call, of, is_complete);
  if (slot != none) halves_[slot].is_exchange = true;
  return slot;
}

void MessageMatcher::probe(Receives& receives, const EventRow& row, const PartCall& call, std::uint32_t epoch) {
  if (!meaning_of(row.function).is_matched_probe() || row.peer_world < 0 || row.tag < 0) return;
  const Transfer taken{row.communicator, row.peer, row.peer_world, row.tag, no_bytes, epoch};
  const Slot slot = receive(receives, row, call, taken, false);
  if (slot != none) receives.probed[halves_[slot].channel].push_back(slot);
}

// The receive of a message that a probe matched before. Which of them the program has given to the receive is not
// recorded: it takes one of the channel that is as long, rather one that the same thread has probed, the oldest first.
MessageMatcher::Slot MessageMatcher::receive_probed(Receives& receives, const EventRow& row, const Transfer& of) {
  const auto found = receives.probed.find({of.communicator, of.peer_world, row.rank, of.tag, of.epoch});
  if (found == receives.probed.end()) return none;
  std::deque<Slot>& probed = found->second;
  const auto likeness = [&](Slot each) {
    const Half& half = halves_[each];
    const bool is_as_long = half.other != none && halves_[half.other].part.bytes == of.bytes;
    return std::pair(is_as_long, half.part.posted.thread == row.thread);
  };
  const auto at = std::ranges::max_element(probed, {}, likeness);
  const Slot slot = *at;
  probed.erase(at);
  if (found->second.empty()) receives.probed.erase(found);
  halves_[slot].part.bytes = of.bytes;
  return slot;
}

void MessageMatcher::pair(Slot slot) {
  Half& half = halves_[slot];
  const Channel& at = half.channel;
  if (gaps_.has_rank(half.world, at.source) || gaps_.has_rank(half.world, at.destination)) return;  // remains unmatched
  if (crossing_.leaves_out(at)) return;
  if (half.direction == Direction::received) {
    half.order = ++last_order_;
    if (!cancellable_.empty())
      if (const auto cancellable = cancellable_.find(at); cancellable != cancellable_.end())
        cancellable->second.push_back(slot);
  }
  const auto [other, is_pair] = channels_.match(at, half.direction, [slot] { return slot; });
  if (half.direction == Direction::sent && !is_pair) ++queue_of(half, at.destination).messages;
  if (half.direction == Direction::received && is_pair)
    if (Queue& queue = queue_of(half, at.destination); queue.messages > 0) --queue.messages;
  if (!is_pair) return;
  join(slot, other);
  hand_over_if_complete(slot);
}

// Whether the parts of a message after a gap may belong to different messages.
bool MessageMatcher::crosses(Slot slot) {
  const Half& half = halves_[slot];
  const Half& other = halves_[half.other];
  const bool is_sent = half.direction == Direction::sent;
  return crossing_.look_at(half.channel, half.world, is_sent ? half.part : other.part,
                           is_sent ? other.part : half.part);
}

MessageMatcher::Queue& MessageMatcher::queue_of(const Half& of, std::int32_t rank) {
  Queue& queue = can_be_rank(of.world, rank) ? queues_.at(of.world, rank) : damaged_;
  if (queue.epoch != of.channel.epoch) queue = {of.channel.epoch, 0, 0};
  return queue;
}

// An open receive has become one of a known channel, or is given up.
void MessageMatcher::close(const Half& open) {
  if (!open.is_open || !can_be_rank(open.world, open.part.rank)) return;
  Queue& queue = queues_.at(open.world, open.part.rank);
  if (queue.epoch == open.channel.epoch && queue.open > 0) --queue.open;
}

void MessageMatcher::join(Slot slot, Slot other) {
  halves_[slot].other = other;
  halves_[other].other = slot;
  if (crosses(slot)) return part(slot);
  for (const Slot each : {slot, other})
    if (halves_[each].part.is_complete) add_end(each);
}

void MessageMatcher::part(Slot slot) {
  halves_[halves_[slot].other].other = none;
  halves_[slot].other = none;
}

void MessageMatcher::hand_over_if_complete(Slot slot) {
  const Half& half = halves_[slot];
  if (half.other == none || !half.part.is_complete || !halves_[half.other].part.is_complete) return;
  if (!cancellable_.empty() && is_held(half.direction == Direction::received ? slot : half.other)) return;
  if (crossing_.leaves_out(half.channel)) return part(slot);
  hand_over(slot);
}

void MessageMatcher::complete(Slot slot, const PartCall& call) {
  if (slot == none) return;
  Half& half = halves_[slot];
  half.part.is_complete = true;
  half.part.completed = call;
  if (half.other != none && crosses(slot)) part(slot);
  if (half.other != none) add_end(slot);
  if (!cancellable_.empty() && half.direction == Direction::received && is_held(slot))
    return settle(Channel(half.channel));
  hand_over_if_complete(slot);
}

void MessageMatcher::complete_receive(Receives& receives, Slot slot, const EventRequest& request,
                                      const PartCall& call) {
  if (slot == none) return;
  Half& half = halves_[slot];
  if (request.bytes != no_bytes) half.part.bytes = request.bytes;
  const bool took_nothing = request.peer == no_peer && !half.is_exchange;
  const bool is_known = request.peer_world >= 0 && request.tag >= 0;
  if (half.is_open && !is_known) {
    // The receive was cancelled, or its message came from an unknown rank.
    receives.posted.drop(slot, on_known_channel());
    close(half);
    return free(slot);
  }
  if (took_nothing && cancel(slot)) return;
  if (took_nothing && half.other == none) {
    receives.posted.drop(slot, on_known_channel());
    channels_.withdraw(half.channel, Direction::received, slot);
    return free(slot);
  }
  if (!half.is_open) return complete(slot, call);
  half.part.is_complete = true;
  half.part.completed = call;
  receives.posted.resolve(slot, request.peer_world, request.tag, on_known_channel());
}

void MessageMatcher::complete_unseen(Slot slot) {
  if (slot == none) return;
  Half& half = halves_[slot];
  complete(slot, PartCall(half.part.posted));
}

void MessageMatcher::may_cancel(std::vector<Slot> under_way) {
  std::erase_if(under_way, [this](Slot slot) { return halves_[slot].order == 0; });
  const auto is_before = [this](Slot one, Slot other) { return halves_[one].order < halves_[other].order; };
  std::sort(under_way.begin(), under_way.end(), is_before);
  for (const Slot slot : under_way) {
    Cancellable& cancellable = cancellable_[halves_[slot].channel];
    if (cancellable.empty() || is_before(cancellable.back(), slot)) cancellable.push_back(slot);
  }
}

// Whether an earlier receive of the channel may still be cancelled, so that this receive may get another message.
bool MessageMatcher::is_held(Slot slot) const {
  const auto found = cancellable_.find(halves_[slot].channel);
  return found != cancellable_.end() && halves_[slot].order >= halves_[found->second.front()].order;
}

// The receive was cancelled, so its message, and each following one, goes to the next receive of the channel. False if
// no MPI_Cancel can have been for this receive; then it failed.
bool MessageMatcher::cancel(Slot slot) {
  const Channel channel = halves_[slot].channel;
  const auto found = cancellable_.find(channel);
  if (found == cancellable_.end()) return false;
  Cancellable& cancellable = found->second;
  auto at = std::find(cancellable.begin(), cancellable.end(), slot);
  if (at == cancellable.end()) return false;
  Slot message = halves_[slot].other;
  if (message == none)
    channels_.withdraw(channel, Direction::received, slot);
  else
    part(slot);
  at = cancellable.erase(at);
  free(slot);
  for (; at != cancellable.end() && message != none; ++at) {
    const Slot next = halves_[*at].other;
    if (next == none)
      channels_.withdraw(channel, Direction::received, *at);
    else
      part(*at);
    join(*at, message);
    message = next;
  }
  if (message != none) channels_.give_back(channel, Direction::sent, message);
  settle(channel);
  return true;
}

// Appends the messages of receives before which no receive of the channel can still be cancelled.
void MessageMatcher::settle(const Channel& channel) {
  const auto found = cancellable_.find(channel);
  if (found == cancellable_.end()) return;
  Cancellable& cancellable = found->second;
  std::vector<Slot> settled;
  // The limit is needed because a freed request never completes, and would block the others for ever.
  while (!cancellable.empty() &&
         (halves_[cancellable.front()].part.is_complete || cancellable.size() > max_cancellable)) {
    settled.push_back(cancellable.front());
    cancellable.pop_front();
  }
  if (cancellable.empty()) cancellable_.erase(found);
  for (const Slot slot : settled) {
    if (halves_[slot].part.is_complete && halves_[slot].other != none) add_end(slot);
    hand_over_if_complete(slot);
  }
}

void MessageMatcher::hand_over(Slot slot) {
  const Half& half = halves_[slot];
  if (messages_ != nullptr) {
    const bool is_sent = half.direction == Direction::sent;
    Message& message = messages_->emplace_back();
    message.world = half.world;
    message.communicator = half.channel.communicator;
    message.source = half.channel.source;
    message.destination = half.channel.destination;
    message.tag = half.channel.tag;
    (is_sent ? message.sent : message.received) = half.part;
    if (half.other != none) (is_sent ? message.received : message.sent) = halves_[half.other].part;
  }
  if (half.other != none) free(half.other);
  free(slot);
}

void MessageMatcher::add_end(Slot slot) {
  if (ends_ == nullptr || halves_[slot].is_reported) return;
  Half& half = halves_[slot];
  if (!cancellable_.empty() && half.direction == Direction::received && is_held(slot)) return;
  half.is_reported = true;
  const Part& other = halves_[half.other].part;
  const bool is_sent = half.direction == Direction::sent;
  ends_->push_back({is_sent ? End::Kind::sent : End::Kind::received, CallRole::local, half.world,
                    half.channel.communicator, half.part.rank, other.rank, half.channel.tag, half.part.posted,
                    half.part.completed, other.posted, half.part.bytes, other.queued});
}

void MessageMatcher::finish(Receives& receives) { receives.posted.finish(on_known_channel()); }

void MessageMatcher::finish() {
  for (Slot slot = 0; slot < halves_.size(); ++slot) {
    const Half& half = halves_[slot];
    if (half.part.rank < 0 || half.is_open) continue;
    // What a rank with a gap did is not known, so such messages without a counterpart are left out.
    const Channel& at = half.channel;
    if (half.other != none && crossing_.leaves_out(at)) part(slot);
    if (half.other == none && (gaps_.has_any(half.world, at.source) || gaps_.has_any(half.world, at.destination)))
      continue;
    hand_over(slot);
  }
}

}  // namespace tare::reader
