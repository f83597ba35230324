// The connections of a node to the nodes below it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include <zmq.hpp>

#include "tared/tree/door.h"
#include "tared/tree/node_options.h"
#include "tared/tree/packet_socket.h"
#include "tared/tree/rendezvous.h"
#include "tared/tree/run_key.h"

namespace tare::tared {

class Downlink {
 public:
  // Throws zmq::error_t if it cannot bind.
  Downlink(zmq::context_t& context, const NodeOptions& options, const RunKey& key);
  Downlink(const Downlink&) = delete;
  Downlink& operator=(const Downlink&) = delete;

  const NodeAddress& address() const { return address_; }
  zmq::socket_t& socket() { return socket_; }
  // Calls back for messages that are not about the link. A child that has not said hello is asked to.
  void receive(std::int64_t now_ns, const std::function<void(std::uint32_t child, const Packet&)>& handle);
  // Nodes that have said hello and are alive.
  std::size_t children() const { return heard_ns_.size(); }
  // Removes nodes without a sign of life, and calls back for each.
  void remove_silent(std::int64_t now_ns, const std::function<void(std::uint32_t child)>& gone);
  void remove(std::uint32_t child);
  void send(std::uint32_t child, const Packet& packet);
  void send_all(const Packet& packet);

 private:
  void note_children();

  zmq::socket_t socket_;
  std::optional<Door> door_;  // of a socket that other machines can reach
  const NodeOptions& options_;
  NodeAddress address_;
  std::map<std::uint32_t, std::int64_t> heard_ns_;
  Bytes bytes_;
  Received received_;
};

// Tests whether a node of the tree can bind the address of `listen=`.
// An error message for the text (listen.h) on this machine, with the addresses that there are; empty: none.
std::string why_not_bound(const std::string& text);

}  // namespace tare::tared
