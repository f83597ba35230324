#include "tared/tree/uplink.h"

#include <algorithm>
#include <string_view>

#include "tared/filters/clock.h"
#include "tared/tree/listen.h"
#include "tared/tree/rendezvous.h"

namespace tare::tared {

namespace {
constexpr std::string_view tcp = "tcp://";
constexpr std::int64_t look_every_ns = 20'000'000;  // for the address of a parent that has written none
}  // namespace

void Uplink::connect(std::int64_t now_ns) {
  if (now_ns - looked_ns_ < look_every_ns) return;
  looked_ns_ = now_ns;
  const std::uint32_t parent = options_.ancestors[ancestor_];
  const auto address = find_node(options_.directory, parent);
  if (!address) return;
  const std::string endpoint = endpoint_of(parent, *address);
  if (endpoint.empty()) {
    next_ancestor(now_ns);
    return;
  }
  try {
    zmq::socket_t socket(context_, zmq::socket_type::dealer);
    set_limits(socket, options_.limits.window);
    socket.set(zmq::sockopt::routing_id, "n" + std::to_string(options_.node));
    secure_client(socket, key_);
    socket.connect(endpoint);
    socket_ = std::move(socket);
  } catch (const zmq::error_t&) {
    return;  // not an address, or no descriptor is left; tried again later
  }
  clock_ = ClockOffset(address->machine == this_machine());
  pinged_ns_ = 0;
}

// Empty if it cannot be reached from here.
std::string Uplink::endpoint_of(std::uint32_t parent, const NodeAddress& address) const {
  const bool has_our_sockets = address.machine == this_machine() && address.name_space == this_name_space();
  if (address.network.empty()) return has_our_sockets ? sockets_.endpoint(parent) : "";
  const bool is_near = is_loopback(address.network.substr(std::min(address.network.size(), tcp.size())));
  return has_our_sockets || !is_near ? address.network : "";
}

void Uplink::give_up() {
  tried_ = options_.ancestors.size();
  is_connected_ = false;
}

void Uplink::next_ancestor(std::int64_t now_ns) {
  socket_.reset();
  if (is_connected_) ++moves_;
  is_connected_ = false;
  sent_.clear();  // they are lost with the parent
  ++tried_;
  ancestor_ = (ancestor_ + 1) % options_.ancestors.size();
  heard_ns_ = now_ns;
}

void Uplink::keep(std::int64_t now_ns) {
  if (heard_ns_ == 0) heard_ns_ = now_ns;
  const std::int64_t patience_ns = was_connected_ ? options_.dead_after_ns : options_.form_patience_ns;
  if (now_ns - heard_ns_ > patience_ns) next_ancestor(now_ns);
  if (!socket_) connect(now_ns);
  // Asks often for the first answer, because the parent may not have bound its address yet.
  const std::int64_t every_ns = is_connected_ ? options_.beat_ns : std::min(options_.beat_ns, 5 * look_every_ns);
  if (socket_ && now_ns - pinged_ns_ >= every_ns) {
    pinged_ns_ = now_ns;
    send(Ping{realtime_ns()});
  }
}

void Uplink::send(const Packet& packet) {
  if (!socket_) return;
  bytes_.clear();
  encode(packet, bytes_);
  send_packet(*socket_, bytes_);
}

void Uplink::send(Part part) {
  part.first_offload_ns += clock_.ahead_ns();
  part.last_offload_ns += clock_.ahead_ns();
  part.clock_error_ns += clock_.error_ns();
  sent_.push_back(part.round);
  send(Packet(part));
}

void Uplink::handle_pong(const Pong& pong, std::int64_t now_ns) {
  heard_ns_ = now_ns;
  clock_.add(pong.ping_sent_ns, pong.received_ns, pong.sent_ns, realtime_ns());
  if (!is_connected_ || pong.is_known == 0) ++introductions_;
  is_connected_ = was_connected_ = true;
  tried_ = 0;
}

void Uplink::receive(std::int64_t now_ns, const std::function<void(const Packet&)>& handle) {
  Packet packet;
  while (socket_ && received_.take(*socket_, false)) {
    if (!decode(received_.bytes(), packet)) continue;
    if (const auto* pong = std::get_if<Pong>(&packet)) {
      handle_pong(*pong, now_ns);
    } else if (const auto* taken = std::get_if<Taken>(&packet)) {
      heard_ns_ = now_ns;
      while (!sent_.empty() && sent_.front() < taken->until) sent_.pop_front();
    } else {
      handle(packet);
    }
  }
}

void Uplink::flush_on_close(int milliseconds) {
  if (socket_) socket_->set(zmq::sockopt::linger, milliseconds);
}

}  // namespace tare::tared
