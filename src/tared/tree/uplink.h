// A node's way to its parent.
//
// The parent says which rounds it has passed on; no more than `window` go up before it has, so that a slow link is felt
// below and queues nowhere grow. A parent that gives no sign of life is left for its own parent, and so on up to the
// root, and from there again; what is told once (who is here, names) is told to the next one anew.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>

#include <zmq.hpp>

#include "tared/tree/clock_offset.h"
#include "tared/tree/link.h"
#include "tared/tree/node_options.h"
#include "tared/tree/rendezvous.h"
#include "tared/tree/run_key.h"

namespace tare::tared {

class Uplink {
 public:
  Uplink(zmq::context_t& context, const NodeOptions& options, const RunKey& key)
      : context_(context), options_(options), key_(key) {}

  // Connects, pings, and moves on where there is silence. Call it often, at least once a beat.
  void keep(std::int64_t now_ns);
  // The parent has answered, so it is there.
  bool is_connected() const { return is_connected_; }
  // No ancestor answers; each has been tried. They go on to be tried, in turn.
  bool is_alone() const { return tried_ >= options_.ancestors.size(); }
  void give_up();
  // Counts up whenever a parent knows nothing of this node: say hello and names again.
  std::uint64_t introductions() const { return introductions_; }
  // Whether another round may go up.
  bool has_room() const { return is_connected_ && clock_.is_known() && sent_.size() < options_.limits.window; }
  // Times of the part become those of the parent's clock.
  void send(Part part);
  void send(const Packet& packet);
  // Calls back for what the parent says that is not about the link.
  void receive(std::int64_t now_ns, const std::function<void(const Packet&)>& handle);
  zmq::socket_t* socket() { return socket_ ? &*socket_ : nullptr; }
  std::uint64_t moves() const { return moves_; }
  // Lets what was sent leave before the socket is closed.
  void flush_on_close(int milliseconds);

 private:
  void connect(std::int64_t now_ns);
  std::string endpoint_of(const NodeAddress& parent) const;
  void next_ancestor(std::int64_t now_ns);
  void handle_pong(const Pong& pong, std::int64_t now_ns);

  zmq::context_t& context_;
  const NodeOptions& options_;
  const RunKey& key_;
  std::optional<zmq::socket_t> socket_;
  ClockOffset clock_;
  Bytes bytes_;
  Received received_;
  std::size_t ancestor_ = 0;  // which one is the parent now
  std::size_t tried_ = 0;     // ancestors since one has answered
  bool is_connected_ = false;
  bool was_connected_ = false;  // ever
  std::uint64_t introductions_ = 0;
  std::uint64_t moves_ = 0;
  std::int64_t heard_ns_ = 0;  // CLOCK_MONOTONIC, as are the next two
  std::int64_t pinged_ns_ = 0;
  std::int64_t looked_ns_ = 0;
  std::deque<std::uint64_t> sent_;  // rounds that the parent has not yet passed on, ascending
};

}  // namespace tare::tared
