// Compares the clocks of nodes hierarchically, as Hunold and Carpen-Amarie do ("Hierarchical clock synchronization in
// MPI", 2018). The first ranks of the nodes form a tree of log2(n) rounds. In each round, every rank that knows the
// offset to the first node's clock exchanges messages with one that does not. Then each passes the offset on to its
// node. The offset is that of the exchange with the shortest round trip, and its uncertainty is half of that time.
#pragma once

#include <sched.h>

#include "mpi/calls/thread.h"
#include "mpi/sampling/node.h"
#include "mpi/sampling/seats.h"
#include "recorder/clock.h"

namespace tare::mpi::sampling {

template <class A>
class ClockComparison {
 public:
  using Comm = typename A::Comm;

  // Called by the first ranks of the nodes, each with its seat. False if another of them has not answered by the
  // deadline (CLOCK_MONOTONIC_RAW).
  static bool among(Comm comm, const Seat& seat, std::uint64_t deadline_ns, ClockOffset& own) noexcept {
    own = {};
    for (unsigned level = clock_levels; level-- > 0;) {
      const std::int32_t other = seat.others[level];
      if (other < 0) continue;
      const bool learns = (seat.number >> level & 1U) != 0;
      if (learns ? !ask(comm, other, deadline_ns, own) : !serve(comm, other, deadline_ns, own)) return false;
    }
    return true;
  }

 private:
  static constexpr int exchanges = 30;
  static constexpr int clock_tag = 2;
  struct Answer {
    std::uint64_t time_ns;  // of the first node's clock
    std::uint64_t uncertainty_ns;
  };
  using Status = typename A::Status;
  using Request = typename A::Request;

  static bool is_complete(Request& request, std::uint64_t deadline_ns) noexcept {
    for (;;) {
      int done = 0;
      Status status;
      library<int(Request*, int*, Status*)>(Function::MPI_Test)(&request, &done, &status);
      if (done != 0) return true;
      if (recorder::read_ns(CLOCK_MONOTONIC_RAW) > deadline_ns) return false;
      sched_yield();  // lets the other rank run, if there are more ranks than processors
    }
  }
  // Sent from memory that stays valid, because it may still be under way after the deadline.
  static bool send(Comm comm, int peer, const Answer& answer, std::uint64_t deadline_ns) noexcept {
    using Send = int(const void*, int, typename A::Datatype, int, int, Comm, Request*);
    static Answer buffer;
    buffer = answer;
    Request request = A::request_null();
    return library<Send>(Function::MPI_Isend)(&buffer, sizeof buffer, A::datatype_byte(), peer, clock_tag, comm,
                                              &request) == A::success &&
           is_complete(request, deadline_ns);
  }
  static bool receive(Comm comm, int peer, Answer& answer, std::uint64_t deadline_ns) noexcept {
    using Receive = int(void*, int, typename A::Datatype, int, int, Comm, Request*);
    static Answer buffer;
    Request request = A::request_null();
    if (library<Receive>(Function::MPI_Irecv)(&buffer, sizeof buffer, A::datatype_byte(), peer, clock_tag, comm,
                                              &request) != A::success)
      return false;
    const bool complete = is_complete(request, deadline_ns);
    if (!complete) {  // a cancelled receive completes without its sender
      Status status;
      library<int(Request*)>(Function::MPI_Cancel)(&request);
      library<int(Request*, Status*)>(Function::MPI_Wait)(&request, &status);
    }
    answer = buffer;
    return complete;
  }
  static bool serve(Comm comm, int peer, std::uint64_t deadline_ns, const ClockOffset& own) noexcept {
    for (int i = 0; i < exchanges; ++i) {
      Answer question{};
      if (!receive(comm, peer, question, deadline_ns)) return false;
      const std::uint64_t now = recorder::read_ns(CLOCK_MONOTONIC_RAW);
      const Answer answer = {now + static_cast<std::uint64_t>(own.ahead_ns), own.uncertainty_ns};
      if (!send(comm, peer, answer, deadline_ns)) return false;
    }
    return true;
  }
  static bool ask(Comm comm, int peer, std::uint64_t deadline_ns, ClockOffset& best) noexcept {
    std::uint64_t shortest = UINT64_MAX;
    for (int i = 0; i < exchanges; ++i) {
      Answer answer{};
      const std::uint64_t before = recorder::read_ns(CLOCK_MONOTONIC_RAW);
      if (!send(comm, peer, {}, deadline_ns) || !receive(comm, peer, answer, deadline_ns)) return false;
      const std::uint64_t after = recorder::read_ns(CLOCK_MONOTONIC_RAW);
      if (after - before >= shortest) continue;
      shortest = after - before;
      best.ahead_ns = static_cast<std::int64_t>(answer.time_ns - (before + shortest / 2));
      best.uncertainty_ns = answer.uncertainty_ns + (shortest + 1) / 2;
    }
    return true;
  }
};

}  // namespace tare::mpi::sampling
