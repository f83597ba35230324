// By how much the clock of the parent's node is ahead of the own one, from pings and their answers.
//
// Cristian's method, with the four times of NTP (Mills, RFC 5905): of the last exchanges, the one with the shortest
// round trip counts. Its error is at most half of that time. Nodes of one machine share a clock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace tare::tared {

class ClockOffset {
 public:
  explicit ClockOffset(bool one_clock = false) : one_clock_(one_clock) {}

  // Times of sending and receiving the ping and the pong; the outer two are of the own clock.
  void add(std::int64_t ping_sent_ns, std::int64_t ping_received_ns, std::int64_t pong_sent_ns,
           std::int64_t pong_received_ns) {
    const std::int64_t took = (pong_received_ns - ping_sent_ns) - (pong_sent_ns - ping_received_ns);
    const std::int64_t ahead = (ping_received_ns - ping_sent_ns) / 2 + (pong_sent_ns - pong_received_ns) / 2;
    if (took < 0) return;  // a clock was set in between
    exchanges_[next_++ % exchanges_.size()] = {took, ahead};
  }
  bool is_known() const { return one_clock_ || next_ > 0; }
  std::int64_t ahead_ns() const { return one_clock_ ? 0 : best().ahead_ns; }
  std::int64_t error_ns() const { return one_clock_ ? 0 : best().took_ns / 2 + 1; }

 private:
  struct Exchange {
    std::int64_t took_ns = std::numeric_limits<std::int64_t>::max();
    std::int64_t ahead_ns = 0;
  };
  const Exchange& best() const {
    const Exchange* best = &exchanges_.front();
    for (const Exchange& exchange : exchanges_)
      if (exchange.took_ns < best->took_ns) best = &exchange;
    return *best;
  }

  bool one_clock_;
  std::array<Exchange, 16> exchanges_;
  std::size_t next_ = 0;
};

}  // namespace tare::tared
