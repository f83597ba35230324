// Limits how many peers that may be strangers are connected to a socket that other machines can reach.
//
// libzmq accepts each connection, and only then asks for the key. A connection costs a descriptor until it has shown
// the key, at most for the time of a handshake (link.h). So anyone who reaches the address could take all descriptors
// of the process, and it could write no more rounds. The door counts connections, and while there are too many, the
// kernel drops requests for new ones. Those who request a connection repeat that by themselves, so a node that comes at
// a bad moment comes a little later. Connected nodes notice nothing.
//
// libzmq tells the door of connections, in a thread of its own, because it must be quick.
#pragma once

#include <atomic>
#include <cstddef>
#include <set>
#include <thread>

#include <zmq.hpp>

namespace tare::tared {

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

}  // namespace tare::tared
