// What roles of sampled calls need to know about communicators.
#pragma once

#include "mpi/roles/communicator.h"
#include "mpi/roles/envelope.h"
#include "mpi/sampling/sampler.h"
#include "stack/site.h"

namespace tare::mpi {

using sampling::sampler;

// The communicator of a call. A new one is described now, because its messages must be numbered from the first on.
template <class A>
[[gnu::cold, gnu::noinline]] const Communicator* describe_now(Thread& thread, typename A::Comm comm) noexcept {
  describe_communicator<A>(comm);
  return &known_communicator(thread, bits(comm));
}
template <class A>
[[gnu::always_inline]] inline const Communicator& usable(Thread& thread, recorder::Call& call, On<A>& on) noexcept {
  if (call.communicator == format::no_communicator && on.comm != A::comm_null()) [[unlikely]] {
    on.known = describe_now<A>(thread, on.comm);
    call.communicator = on.known->number;
  }
  return *on.known;
}

// Whether the thread has asked not to be recorded (MPI_Pcontrol). Its messages are numbered all the same.
inline bool is_paused(const Thread& thread) noexcept { return thread.mode == recorder::Mode::paused; }

inline sampling::Endpoint endpoint_of(const Communicator& c) noexcept { return {c.number, c.key, c.peers}; }

// The name of a communicator, if the spec needs it.
template <class A>
const char* sampled_name(typename A::Comm comm, char* name) noexcept {
  name[0] = '\0';
  if (!sampler.asks_for_names()) return name;
  int length = 0;
  library<int(typename A::Comm, char*, int*)>(Function::MPI_Comm_get_name)(comm, name, &length);
  return name;
}

// MPI_Comm_free, MPI_Comm_disconnect. Comes before the role that removes the communicator from the table.
template <class A>
struct SamplesCommFree : Role {
  const typename A::Comm* comm;
  explicit SamplesCommFree(const typename A::Comm* c) noexcept : comm(c) {}

  void before(Thread& thread, recorder::Call&) noexcept {
    if (comm != nullptr) sampler.remove_communicator(known_communicator(thread, bits(*comm)).number);
  }
};

}  // namespace tare::mpi
