#include "tared/tree/packet_socket.h"

#include <algorithm>

namespace tare::tared {

namespace {
constexpr int handshake_ms = 5000;
constexpr int backlog = 1024;  // children of a node that connect at once
// Encryption adds 33 bytes to a frame (CurveZMQ, RFC 26), and the limit includes them.
constexpr std::size_t encryption_bytes = 64;

std::span<const std::byte> bytes_of(const zmq::message_t& frame) {
  return {static_cast<const std::byte*>(frame.data()), frame.size()};
}
}  // namespace

void set_limits(zmq::socket_t& socket, std::uint32_t window) {
  // Rounds under way are limited by `taken` (uplink.h), so they do not reach these limits.
  const int messages = static_cast<int>(4 * window + 64);
  socket.set(zmq::sockopt::sndhwm, messages);
  socket.set(zmq::sockopt::rcvhwm, messages);
  socket.set(zmq::sockopt::maxmsgsize, static_cast<std::int64_t>(max_frame_bytes + encryption_bytes));
  socket.set(zmq::sockopt::handshake_ivl, handshake_ms);
  socket.set(zmq::sockopt::backlog, backlog);
  socket.set(zmq::sockopt::linger, 0);
}

bool send_packet(zmq::socket_t& socket, std::span<const std::byte> packet, const std::string& peer) {
  using zmq::send_flags;
  try {
    if (!peer.empty() && !socket.send(zmq::buffer(peer), send_flags::dontwait | send_flags::sndmore)) return false;
    do {
      const auto frame = packet.first(std::min(packet.size(), max_frame_bytes));
      packet = packet.subspan(frame.size());
      const auto more = packet.empty() ? send_flags::none : send_flags::sndmore;
      if (!socket.send(zmq::buffer(frame.data(), frame.size()), send_flags::dontwait | more)) return false;
    } while (!packet.empty());
    return true;
  } catch (const zmq::error_t&) {
    return false;  // a ROUTER has no such peer
  }
}

bool Received::take(zmq::socket_t& socket, bool has_peer) {
  using zmq::recv_flags;
  bytes_ = {};
  joined_.clear();
  if (!socket.recv(frame_, recv_flags::dontwait)) return false;
  if (has_peer) {
    peer_ = frame_.to_string();
    if (!frame_.more()) return true;
    if (!socket.recv(frame_, recv_flags::dontwait)) return false;
  }
  if (!frame_.more()) {
    bytes_ = bytes_of(frame_);
    return true;
  }
  bool is_too_long = false;
  for (;;) {
    const auto bytes = bytes_of(frame_);
    is_too_long |= joined_.size() + bytes.size() > max_packet_bytes;
    if (!is_too_long) joined_.insert(joined_.end(), bytes.begin(), bytes.end());
    if (!frame_.more()) break;
    if (!socket.recv(frame_, recv_flags::dontwait)) return false;
  }
  if (!is_too_long) bytes_ = joined_;
  return true;
}

}  // namespace tare::tared
