// Packets over a ZeroMQ socket, and what every socket of the tree is set to.
#pragma once

#include <span>
#include <string>

#include <zmq.hpp>

#include "tared/tree/packet.h"

namespace tare::tared {

// A peer that has not yet proven who it is can make libzmq hold one frame, and as many may connect as a process has
// descriptors: frames are small, and larger packets are sent as several.
constexpr std::size_t max_frame_bytes = std::size_t{64} << 10U;

// Bounded buffers, no waiting at the end, and no patience with peers that do not shake hands.
void set_limits(zmq::socket_t& socket, std::uint32_t window);

// Sends without waiting, to `peer` of a ROUTER, or of a DEALER with none. False if there is no room, or no such peer.
bool send_packet(zmq::socket_t& socket, std::span<const std::byte> packet, const std::string& peer = {});

// A packet as it was received; the memory is used again.
class Received {
 public:
  // False if none is there. One that is too long is read to its end and is empty.
  bool take(zmq::socket_t& socket, bool has_peer);
  const std::string& peer() const { return peer_; }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  zmq::message_t frame_;
  Bytes joined_;
  std::string peer_;
  std::span<const std::byte> bytes_;
};

}  // namespace tare::tared
