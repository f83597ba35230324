// Pairs the sends and receives of a channel: the k-th message that is sent is the k-th that is received.
// src/mpi/sampling/README.md proves this from MPI's rules of message order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tare::reader {

// The messages between two ranks of a world with one communicator and tag. They are received in the order in which they
// are sent.
struct Channel {
  std::int32_t communicator, source, destination, tag;  // ranks of the world
  std::uint32_t epoch = 0;                              // of both ranks (trace_gaps.h); 0: neither trace had a gap
  bool operator==(const Channel&) const = default;
};

struct ChannelHash {
  std::size_t operator()(const Channel& of) const {
    std::uint64_t hash = 0;
    for (const std::int32_t part :
         {of.communicator, of.source, of.destination, of.tag, static_cast<std::int32_t>(of.epoch)})
      hash = (hash ^ static_cast<std::uint32_t>(part)) * 0x9e3779b97f4a7c15, hash ^= hash >> 32;
    return hash;
  }
};

enum class Direction : std::uint8_t { sent, received };

// Holds the ends of messages whose other end has not been read yet. Each channel has a queue of sends or of receives.
template <class T>
class Channels {
 public:
  // Called by the side `direction`. If the queue has ends of the other side, removes and returns the first one, and
  // true. Else appends the result of make() to the queue, and returns it and false.
  template <class Make>
  std::pair<T, bool> match(const Channel& channel, Direction direction, const Make& make) {
    Queue& queue = queues_[channel];
    if (queue.first != none && queue.left_by != direction) return {pop(queue), true};
    T left = make();
    push(queue, direction, left);
    if (queues_.size() >= erase_empty_at_) erase_empty();
    return {left, false};
  }

  // Removes an end that this side has appended; false if the other side has taken it.
  bool withdraw(const Channel& channel, Direction direction, const T& left) {
    const auto found = queues_.find(channel);
    if (found == queues_.end() || found->second.left_by != direction) return false;
    Queue& queue = found->second;
    for (std::uint32_t at = queue.first, before = none; at != none; before = at, at = nodes_[at].next) {
      if (!(nodes_[at].left == left)) continue;
      (before == none ? queue.first : nodes_[before].next) = nodes_[at].next;
      if (queue.last == at) queue.last = before;
      release(at);
      return true;
    }
    return false;
  }

  // Puts an end of the side `direction` that was taken back to the front of the queue. The queue must not contain ends
  // of the other side.
  void give_back(const Channel& channel, Direction direction, const T& taken) {
    Queue& queue = queues_[channel];
    const std::uint32_t behind = std::exchange(queue.first, none);
    const std::uint32_t last = queue.last;
    push(queue, direction, taken);
    nodes_[queue.first].next = behind;
    if (behind != none) queue.last = last;
  }

  // Calls `visit` for all ends in the queues, in no particular order.
  template <class Visit>
  void each(const Visit& visit) const {
    for (const auto& [channel, queue] : queues_)
      for (std::uint32_t at = queue.first; at != none; at = nodes_[at].next)
        visit(channel, queue.left_by, nodes_[at].left);
  }

 private:
  static constexpr std::uint32_t none = UINT32_MAX;
  static constexpr std::size_t fewest_to_erase = 1U << 16;

  struct Node {
    T left;
    std::uint32_t next;
  };
  struct Queue {
    std::uint32_t first = none, last = none;
    Direction left_by = Direction::sent;
  };

  void push(Queue& queue, Direction direction, const T& left) {
    std::uint32_t at = free_;
    if (at == none) {
      at = static_cast<std::uint32_t>(nodes_.size());
      nodes_.push_back({left, none});
    } else {
      free_ = nodes_[at].next;
      nodes_[at] = {left, none};
    }
    if (queue.first == none) {
      queue.first = at;
      queue.left_by = direction;
    } else {
      nodes_[queue.last].next = at;
    }
    queue.last = at;
  }
  T pop(Queue& queue) {
    const std::uint32_t at = queue.first;
    queue.first = nodes_[at].next;
    T left = nodes_[at].left;
    release(at);
    return left;
  }
  void release(std::uint32_t at) {
    nodes_[at].next = free_;
    free_ = at;
  }
  // Removes empty channels, because a program may use each tag only once.
  void erase_empty() {
    std::erase_if(queues_, [](const auto& of) { return of.second.first == none; });
    erase_empty_at_ = queues_.size() * 2 < fewest_to_erase ? fewest_to_erase : queues_.size() * 2;
  }

  std::unordered_map<Channel, Queue, ChannelHash> queues_;
  std::vector<Node> nodes_;
  std::uint32_t free_ = none;
  std::size_t erase_empty_at_ = fewest_to_erase;
};

}  // namespace tare::reader
