#include "tared/tree/door.h"

#include <linux/filter.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <string>

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

}  // namespace tare::tared
