// Roles of matched probes, and of the receives of matched messages.
#pragma once

#include "mpi/objects/messages.h"
#include "mpi/roles/envelope.h"

namespace tare::mpi {

// MPI_Mprobe, MPI_Improbe. Comes after Probes, which finds the source of the message.
template <class A>
struct Matches : Role {
  const int* flag;
  const typename A::Message* message;
  Matches(const int* f, const typename A::Message* m) noexcept : flag(f), message(m) {}

  void after(Thread&, recorder::Call& call, int result) noexcept {
    if (result != A::success || (flag != nullptr && *flag == 0)) return;
    add_message({bits(*message), call.communicator, call.peer, call.tag, 0});
  }
};

// MPI_Mrecv, MPI_Imrecv.
template <class A>
struct ReceivesMatched : Role {
  std::uint64_t handle;
  std::uint32_t receive = 0;  // the sampled receive of the message, if messages are sampled
  explicit ReceivesMatched(const typename A::Message* message) noexcept
      : handle(message == nullptr ? 0 : bits(*message)) {}

  void before(Thread&, recorder::Call& call) noexcept {
    const Message message = take_message(handle);
    call.communicator = message.communicator;
    call.peer = message.peer;
    call.tag = message.tag;
    receive = message.receive;
  }
};

}  // namespace tare::mpi
