// Compares the clocks of nodes: hierarchically, as Hunold and Carpen-Amarie do ("Hierarchical clock synchronization in
// MPI", 2018). The first ranks of the nodes form a tree of log2(n) rounds, in each of which those that know the first
// node's clock teach it to as many others; then each tells its node. An offset is taken from the exchange with the
// shortest way, and is uncertain by half of that way.
#pragma once

#include "mpi/sampling/sampler.h"
#include "mpi/thread.h"
#include "recorder/clock.h"

namespace tare::mpi::sampling {

struct ClockOffset {
  std::int64_t ahead_ns = 0;  // the first node's clock against this one's
  std::uint64_t uncertainty_ns = 0;
};

template <class A>
class ClockComparison {
 public:
  using Comm = typename A::Comm;

  // `leaders`: the first ranks of the nodes.
  static ClockOffset among(Comm leaders, int rank, int size) noexcept {
    ClockOffset own;
    int stride = 1;
    while (2 * stride < size) stride *= 2;
    for (; stride >= 1; stride /= 2) {
      if (rank % (2 * stride) == 0 && rank + stride < size) serve(leaders, rank + stride, own);
      if (rank % (2 * stride) == stride) own = ask(leaders, rank - stride);
    }
    return own;
  }

 private:
  static constexpr int exchanges = 30;
  static constexpr int clock_tag = 2;
  struct Answer {
    std::uint64_t time_ns;  // of the first node's clock
    std::uint64_t uncertainty_ns;
  };
  using Status = typename A::Status;

  static void send(Comm comm, int peer, const Answer& answer) noexcept {
    using Send = int(const void*, int, typename A::Datatype, int, int, Comm);
    library<Send>(Function::MPI_Send)(&answer, sizeof answer, A::datatype_byte(), peer, clock_tag, comm);
  }
  static Answer receive(Comm comm, int peer) noexcept {
    using Receive = int(void*, int, typename A::Datatype, int, int, Comm, Status*);
    Answer answer{};
    Status status;
    library<Receive>(Function::MPI_Recv)(&answer, sizeof answer, A::datatype_byte(), peer, clock_tag, comm, &status);
    return answer;
  }
  static void serve(Comm comm, int peer, const ClockOffset& own) noexcept {
    for (int i = 0; i < exchanges; ++i) {
      receive(comm, peer);
      const std::uint64_t now = recorder::read_ns(CLOCK_MONOTONIC_RAW);
      send(comm, peer, {now + static_cast<std::uint64_t>(own.ahead_ns), own.uncertainty_ns});
    }
  }
  static ClockOffset ask(Comm comm, int peer) noexcept {
    ClockOffset best;
    std::uint64_t shortest = UINT64_MAX;
    for (int i = 0; i < exchanges; ++i) {
      const std::uint64_t before = recorder::read_ns(CLOCK_MONOTONIC_RAW);
      send(comm, peer, {});
      const Answer answer = receive(comm, peer);
      const std::uint64_t after = recorder::read_ns(CLOCK_MONOTONIC_RAW);
      if (after - before >= shortest) continue;
      shortest = after - before;
      best.ahead_ns = static_cast<std::int64_t>(answer.time_ns - (before + shortest / 2));
      best.uncertainty_ns = answer.uncertainty_ns + (shortest + 1) / 2;
    }
    return best;
  }
};

}  // namespace tare::mpi::sampling
