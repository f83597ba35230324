// The connections of a node to the nodes below it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include <zmq.hpp>

#include "tared/tree/node_options.h"
#include "tared/tree/packet_socket.h"
#include "tared/tree/rendezvous.h"

namespace tare::tared {

// Limits how many peers that may be strangers are connected to a socket that other machines can reach.
//
// libzmq accepts each connection, and only then asks for the key. A connection costs a descriptor until it has shown
// the key, at most for the time of a handshake (link.h). So anyone who reaches the address could take all descriptors
// of the process, and it could write no more rounds. The door counts connections, and while there are too many, the
// kernel drops requests for new ones. Those who request a connection repeat that by themselves, so a node that comes at
// a bad moment comes a little later. Connected nodes notice nothing.
//
// libzmq tells the door of connections, in a thread of its own, because it must be quick.
class Door {
 public:
  // The socket must not be bound yet. Only TCP addresses have a door. Few of those who have requested a connection wait
  // in the kernel, because they come in when the door is closed already.
  Door(zmq::context_t& context, zmq::socket_t& socket);
  // The socket must still be open. To be called in its thread.
  ~Door();
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;

  // So many peers are not strangers.
  void know(std::size_t peers) { known_.store(peers, std::memory_order_relaxed); }

 private:
  void serve();
  void count();
  void set_closed(bool is_closed);

  zmq::socket_t& socket_;
  zmq::socket_t events_;
  const std::size_t max_strangers_;
  std::atomic<std::size_t> known_{0};
  std::set<int> listeners_;
  std::set<int> peers_;
  bool is_closed_ = false;
  std::thread thread_;
};

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

}  // namespace tare::tared
