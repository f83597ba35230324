#include "tared/tree/downlink.h"

#include <charconv>
#include <vector>

#include <zmq.hpp>

#include "tared/filters/clock.h"
#include "tared/tree/listen.h"
#include "tared/tree/rendezvous.h"

namespace tare::tared {

namespace {

std::string peer_name(std::uint32_t node) { return "n" + std::to_string(node); }

bool node_of(const std::string& peer, std::uint32_t& node) {
  if (peer.size() < 2 || peer.front() != 'n') return false;
  const char* end = peer.data() + peer.size();
  const auto [at, fault] = std::from_chars(peer.data() + 1, end, node);
  return fault == std::errc{} && at == end && node < max_nodes;
}

}  // namespace

Downlink::Downlink(zmq::context_t& context, const NodeOptions& options, const RunKey& key)
    : socket_(context, zmq::socket_type::router), options_(options) {
  set_limits(socket_, options.limits.window);
  // A child that connects again is the same child.
  socket_.set(zmq::sockopt::router_handover, true);
  socket_.set(zmq::sockopt::router_mandatory, true);
  secure_server(socket_, key);
  address_.machine = this_machine();
  address_.name_space = this_name_space();
  if (options.listen.empty()) {
    socket_.bind(SocketDirectory(options.directory).endpoint(options.node));
    return;
  }
  door_.emplace(context, socket_);
  socket_.bind("tcp://" + options.listen + ":*");
  address_.network = socket_.get(zmq::sockopt::last_endpoint);
}

void Downlink::note_children() {
  if (door_) door_->know(heard_ns_.size());
}

void Downlink::remove(std::uint32_t child) {
  heard_ns_.erase(child);
  note_children();
}

void Downlink::receive(std::int64_t now_ns, const std::function<void(std::uint32_t child, const Packet&)>& handle) {
  Packet packet;
  while (received_.take(socket_, true)) {
    std::uint32_t child = 0;
    if (!node_of(received_.peer(), child) || !decode(received_.bytes(), packet)) continue;
    const auto heard = heard_ns_.find(child);
    if (heard != heard_ns_.end()) heard->second = now_ns;
    if (const auto* ping = std::get_if<Ping>(&packet)) {
      const std::int64_t received_ns = realtime_ns();
      send(child, Pong{ping->sent_ns, received_ns, realtime_ns(), heard == heard_ns_.end() ? 0U : 1U, 0});
    } else if (const auto* hello = std::get_if<Hello>(&packet)) {
      if (hello->node != child || hello->filter != options_.filter) continue;
      heard_ns_[child] = now_ns;
      note_children();
      handle(child, packet);
    } else if (heard != heard_ns_.end()) {
      handle(child, packet);
    }
  }
}

void Downlink::remove_silent(std::int64_t now_ns, const std::function<void(std::uint32_t child)>& gone) {
  std::vector<std::uint32_t> silent;
  for (const auto& [child, heard_ns] : heard_ns_)
    if (now_ns - heard_ns > options_.dead_after_ns) silent.push_back(child);
  for (const std::uint32_t child : silent) {
    remove(child);
    gone(child);
  }
}

void Downlink::send(std::uint32_t child, const Packet& packet) {
  bytes_.clear();
  encode(packet, bytes_);
  send_packet(socket_, bytes_, peer_name(child));
}

void Downlink::send_all(const Packet& packet) {
  bytes_.clear();
  encode(packet, bytes_);
  for (const auto& [child, heard_ns] : heard_ns_) send_packet(socket_, bytes_, peer_name(child));
}

std::string why_not_bound(const std::string& text) {
  if (text.empty()) return "";
  const std::string address = address_to_bind(text);
  const std::string what =
      text.find('/') != std::string::npos ? "no address in " + text : "no interface or address " + text;
  const std::string error = "this machine has " + what + "; it has " + all_addresses();
  if (address.empty()) return error;
  try {
    zmq::context_t context(1);
    zmq::socket_t socket(context, zmq::socket_type::router);
    socket.set(zmq::sockopt::linger, 0);
    socket.bind("tcp://" + address + ":*");
  } catch (const zmq::error_t&) {
    return error;
  }
  return "";
}

}  // namespace tare::tared
