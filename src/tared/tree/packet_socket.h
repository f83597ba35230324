// Packets over a ZeroMQ socket, and the options of all sockets of the tree.
#pragma once

#include <poll.h>

#include <array>
#include <cstdint>
#include <ctime>
#include <span>
#include <string>

#include <zmq.hpp>

#include "tared/tree/packet.h"

namespace tare::tared {

// A peer that has not proven its identity can make libzmq hold one frame, and there can be as many peers as the process
// has descriptors. So frames are small, and a larger packet is sent as several.
constexpr std::size_t max_frame_bytes = std::size_t{64} << 10U;

// Bounded buffers, no waiting at the end, a short time limit for handshakes.
void set_limits(zmq::socket_t& socket, std::uint32_t window);

// Sends without waiting, to `peer` of a ROUTER; without a peer, for a DEALER. False if there is no room or no such
// peer.
bool send_packet(zmq::socket_t& socket, std::span<const std::byte> packet, const std::string& peer = {});

// A received packet. The memory is reused.
class Received {
 public:
  // False if there is none. A packet that is too long is read to its end and becomes empty.
  bool take(zmq::socket_t& socket, bool has_peer);
  const std::string& peer() const { return peer_; }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  zmq::message_t frame_;
  Bytes joined_;
  std::string peer_;
  std::span<const std::byte> bytes_;
};

// Waits for sockets of ZeroMQ and files, with a timeout in nanoseconds (zmq_poll() counts milliseconds).
class Poller {
 public:
  // The file of a ZeroMQ socket only signals changes, so pending messages are checked for.
  void add(zmq::socket_t& socket) {
    is_ready_ |= (socket.get(zmq::sockopt::events) & ZMQ_POLLIN) != 0;
    add(socket.get(zmq::sockopt::fd));
  }
  void add(int fd) {
    if (count_ < files_.size()) files_[count_++] = {fd, POLLIN, 0};
  }
  // False if nothing has come.
  bool wait(std::int64_t timeout_ns) {
    if (is_ready_) return true;
    const timespec timeout{timeout_ns / 1'000'000'000, timeout_ns % 1'000'000'000};
    return ppoll(files_.data(), count_, &timeout, nullptr) > 0;
  }

 private:
  std::array<pollfd, 5> files_{};
  nfds_t count_ = 0;
  bool is_ready_ = false;
};

}  // namespace tare::tared
