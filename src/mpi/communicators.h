// The communicators of this process: from handle to number, size and rank.
//
// A communicator is defined (definition.h) when it is made by a blocking call, else at its first use. A
// freed handle is forgotten before the call that frees it, because another thread may get the same value.
#pragma once

#include "mpi/thread.h"

namespace tare::mpi {

// Known communicator of a handle; number 0 if there is none. Thread-safe.
Communicator find_communicator(std::uint64_t handle) noexcept;

// Numbers and defines a communicator, or gives the number it has; thread-safe.
Communicator add_communicator(std::uint64_t handle, Communicator described, const char* name) noexcept;

void forget_communicator(std::uint64_t handle) noexcept;
void rename_communicator(std::uint64_t handle, const char* name) noexcept;

// From the thread's cache or the process's table; never asks MPI.
inline Communicator known_communicator(Thread& thread, std::uint64_t handle) noexcept {
  const std::uint32_t generation = communicator_generation.load(std::memory_order_relaxed) + 1;
  Thread::CommunicatorEntry& entry = thread.communicators[(handle ^ (handle >> 8)) % Thread::communicator_slots];
  if (entry.handle == handle && entry.generation == generation) return entry.communicator;
  const Communicator found = find_communicator(handle);
  if (found.number != format::no_communicator) entry = {handle, generation, found};
  return found;
}

// Asks MPI about a communicator that the library has just accepted, and defines it.
template <class A>
[[gnu::cold]] Communicator describe_communicator(typename A::Comm comm) noexcept {
  using Comm = typename A::Comm;
  Communicator c{};
  int is_inter = 0;
  char name[A::max_object_name + 1] = "";
  int length = 0;
  library<int(Comm, int*)>(Function::MPI_Comm_size)(comm, &c.size);
  library<int(Comm, int*)>(Function::MPI_Comm_rank)(comm, &c.rank);
  library<int(Comm, int*)>(Function::MPI_Comm_test_inter)(comm, &is_inter);
  if (is_inter != 0) library<int(Comm, int*)>(Function::MPI_Comm_remote_size)(comm, &c.remote_size);
  library<int(Comm, char*, int*)>(Function::MPI_Comm_get_name)(comm, name, &length);
  return add_communicator(bits(comm), c, name);
}

}  // namespace tare::mpi
