// The connection of a node to its parent.
//
// The parent reports which rounds it has passed on. At most `window` rounds are sent beyond those, so a slow link is
// noticed below, and no queue grows. If a parent gives no sign of life, the node connects to the parent's parent, and
// so on up to the root, and then begins again. The ranks and names are sent to each new parent.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <string>

#include <zmq.hpp>

#include "tared/tree/node_options.h"
#include "tared/tree/packet_socket.h"
#include "tared/tree/rendezvous.h"

namespace tare::tared {

// By how much the clock of the parent's node is ahead of the own one, from pings and their answers.
//
// Cristian's method, with the four times of NTP (Mills, RFC 5905): of the last exchanges, the one with the shortest
// round trip counts. Its error is at most half of that time. Nodes of one machine share a clock.
class ClockOffset {
 public:
  explicit ClockOffset(bool one_clock = false) : one_clock_(one_clock) {}

  // Times of sending and receiving the ping and the pong; the outer two are of the own clock.
  void add(std::int64_t ping_sent_ns, std::int64_t ping_received_ns, std::int64_t pong_sent_ns,
           std::int64_t pong_received_ns) {
    const std::int64_t took = (pong_received_ns - ping_sent_ns) - (pong_sent_ns - ping_received_ns);
    const std::int64_t ahead = (ping_received_ns - ping_sent_ns) / 2 + (pong_sent_ns - pong_received_ns) / 2;
    if (took < 0) return;  // a clock was set in between
    exchanges_[next_++ % exchanges_.size()] = {took, ahead};
  }
  bool is_known() const { return one_clock_ || next_ > 0; }
  std::int64_t ahead_ns() const { return one_clock_ ? 0 : best().ahead_ns; }
  std::int64_t error_ns() const { return one_clock_ ? 0 : best().took_ns / 2 + 1; }

 private:
  struct Exchange {
    std::int64_t took_ns = std::numeric_limits<std::int64_t>::max();
    std::int64_t ahead_ns = 0;
  };
  const Exchange& best() const {
    const Exchange* best = &exchanges_.front();
    for (const Exchange& exchange : exchanges_)
      if (exchange.took_ns < best->took_ns) best = &exchange;
    return *best;
  }

  bool one_clock_;
  std::array<Exchange, 16> exchanges_;
  std::size_t next_ = 0;
};

class Uplink {
 public:
  Uplink(zmq::context_t& context, const NodeOptions& options, const RunKey& key)
      : context_(context), options_(options), key_(key), sockets_(options.directory) {}

  // Connects, pings, and changes the parent if it is silent. To be called often, at least once a beat.
  void keep(std::int64_t now_ns);
  // The parent has answered, so it is there.
  bool is_connected() const { return is_connected_; }
  // All ancestors were tried, and none answers. They are still tried in turn.
  bool is_alone() const { return tried_ >= options_.ancestors.size(); }
  void give_up();
  // Increased whenever a parent knows nothing of this node, which must say hello and send its names again.
  std::uint64_t introductions() const { return introductions_; }
  // Whether another round may be sent up.
  bool has_room() const { return is_connected_ && clock_.is_known() && sent_.size() < options_.limits.window; }
  // Converts times of the part to the parent's clock.
  void send(Part part);
  void send(const Packet& packet);
  // Calls back for messages that are not about the link.
  void receive(std::int64_t now_ns, const std::function<void(const Packet&)>& handle);
  zmq::socket_t* socket() { return socket_ ? &*socket_ : nullptr; }
  std::uint64_t moves() const { return moves_; }
  // Lets pending messages leave before the socket is closed.
  void flush_on_close(int milliseconds);

 private:
  void connect(std::int64_t now_ns);
  std::string endpoint_of(std::uint32_t parent, const NodeAddress& address) const;
  void next_ancestor(std::int64_t now_ns);
  void handle_pong(const Pong& pong, std::int64_t now_ns);

  zmq::context_t& context_;
  const NodeOptions& options_;
  const RunKey& key_;
  SocketDirectory sockets_;
  std::optional<zmq::socket_t> socket_;
  ClockOffset clock_;
  Bytes bytes_;
  Received received_;
  std::size_t ancestor_ = 0;  // index of the present parent
  std::size_t tried_ = 0;     // ancestors tried since one has answered
  bool is_connected_ = false;
  bool was_connected_ = false;  // at any time
  std::uint64_t introductions_ = 0;
  std::uint64_t moves_ = 0;
  std::int64_t heard_ns_ = 0;  // CLOCK_MONOTONIC, as are the next two
  std::int64_t pinged_ns_ = 0;
  std::int64_t looked_ns_ = 0;
  std::deque<std::uint64_t> sent_;  // rounds that the parent has not passed on yet, ascending
};

}  // namespace tare::tared
