// Waits for sockets of ZeroMQ and files, with a timeout in nanoseconds (zmq_poll() counts milliseconds).
#pragma once

#include <poll.h>

#include <array>
#include <cstdint>
#include <ctime>

#include <zmq.hpp>

namespace tare::tared {

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
