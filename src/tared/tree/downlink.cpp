#include "tared/tree/downlink.h"

#include <linux/filter.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <zmq.hpp>

#include "tared/filters/clock.h"
#include "tared/tree/listen.h"
#include "tared/tree/rendezvous.h"

namespace tare::tared {

namespace {

constexpr int recount_ms = 50;

// No signal is handled in this thread, or in those that it starts.
class Undisturbed {
 public:
  Undisturbed() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~Undisturbed() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  Undisturbed(const Undisturbed&) = delete;
  Undisturbed& operator=(const Undisturbed&) = delete;

 private:
  sigset_t before_{};
};

struct Event {
  std::uint16_t kind = 0;
  std::int32_t value = 0;  // a descriptor
};

// False if none came in time.
bool take(zmq::socket_t& events, Event& event) {
  zmq::message_t frame;
  if (!events.recv(frame)) return false;
  if (frame.size() < sizeof event.kind + sizeof event.value) return false;
  const auto* bytes = static_cast<const char*>(frame.data());
  std::memcpy(&event.kind, bytes, sizeof event.kind);
  std::memcpy(&event.value, bytes + sizeof event.kind, sizeof event.value);
  while (frame.more())
    if (!events.recv(frame)) return false;
  return true;
}

// A part of the descriptors that the process may have, so that most of them are left for its own work.
std::size_t max_strangers() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 64;
  return static_cast<std::size_t>(std::clamp<rlim_t>(limit.rlim_cur / 4, 64, 1024));
}

}  // namespace

Door::Door(zmq::context_t& context, zmq::socket_t& socket)
    : socket_(socket), events_(context, zmq::socket_type::pair), max_strangers_(max_strangers()) {
  socket_.set(zmq::sockopt::backlog, static_cast<int>(max_strangers_ / 4));
  const std::string name = "inproc://door-" + std::to_string(reinterpret_cast<std::uintptr_t>(this));
  const int kinds = ZMQ_EVENT_LISTENING | ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_MONITOR_STOPPED;
  if (zmq_socket_monitor(socket_.handle(), name.c_str(), kinds) != 0) throw zmq::error_t();
  events_.set(zmq::sockopt::linger, 0);
  events_.connect(name);
  const Undisturbed undisturbed;
  thread_ = std::thread([this] { serve(); });
}

Door::~Door() {
  zmq_socket_monitor(socket_.handle(), nullptr, 0);
  thread_.join();
}

void Door::serve() {
  try {
    for (Event event; event.kind != ZMQ_EVENT_MONITOR_STOPPED; count()) {
      if (!take(events_, event)) continue;
      if (event.kind == ZMQ_EVENT_LISTENING) listeners_.insert(event.value);
      if (event.kind == ZMQ_EVENT_ACCEPTED) peers_.insert(event.value);
      if (event.kind == ZMQ_EVENT_DISCONNECTED) peers_.erase(event.value);
    }
  } catch (const zmq::error_t&) {
    return;  // the context is being closed
  }
}

void Door::count() {
  const std::size_t strangers = peers_.size() - std::min(known_.load(std::memory_order_relaxed), peers_.size());
  if (!is_closed_ && strangers > max_strangers_) set_closed(true);
  if (is_closed_ && strangers <= max_strangers_ / 2) set_closed(false);
}

void Door::set_closed(bool is_closed) {
  is_closed_ = is_closed;
  // Strangers may become known, of which there is no event.
  events_.set(zmq::sockopt::rcvtimeo, is_closed ? recount_ms : -1);
  sock_filter drop_all = BPF_STMT(BPF_RET | BPF_K, 0);
  const sock_fprog filter{1, &drop_all};
  const int nothing = 0;
  for (const int listener : listeners_) {
    if (is_closed)
      setsockopt(listener, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter);
    else
      setsockopt(listener, SOL_SOCKET, SO_DETACH_FILTER, &nothing, sizeof nothing);
  }
}

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

}  // namespace tare::tared
