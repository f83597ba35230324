// Roles of what addresses a message: communicator, peer and tag.
#pragma once

#include "format/function_meaning.h"
#include "mpi/calls/measure.h"
#include "mpi/objects/describe.h"
#include "mpi/roles/failure.h"

namespace tare::mpi {

// The communicator of a call. If it is not known yet, it is described after the call, which proves it valid.
template <class A>
struct On : Describes {
  typename A::Comm comm;
  const Communicator* known = nullptr;  // set by before()
  explicit On(typename A::Comm c) noexcept : comm(c) {}

  // Inlined, so that `known` needs no memory unless another role reads it.
  [[gnu::always_inline]] void before(Thread& thread, recorder::Call& call) noexcept {
    known = &known_communicator(thread, bits(comm));
    call.communicator = known->number;
    thread.shared().current.communicator = bits(comm);
  }
  [[gnu::always_inline]] void after(Thread&, recorder::Call& call, int result) noexcept {
    if (result != A::success) [[unlikely]]
      return failed(call, result);
    if (call.communicator != format::no_communicator || comm == A::comm_null()) [[likely]]
      return;
    call.communicator = describe_communicator<A>(comm).number;
  }

 private:
  // A collective that MPI refused is none of those of the communicator, which readers number.
  [[gnu::noinline, gnu::cold]] static void failed(recorder::Call& call, int result) noexcept {
    if (format::meaning_of(call.function).kind == format::CallClass::collective && was_refused<A>(result))
      call.communicator = format::no_communicator;
  }
};

// Destination, source, root or target. Special values are recorded alike for every MPI.
template <class A>
struct Peer : Describes {
  int rank;
  explicit Peer(int r) noexcept : rank(r) {}

  void before(Thread&, recorder::Call& call) noexcept { call.peer = normal(rank); }
  static std::int32_t normal(int rank) noexcept {
    if (rank >= 0) [[likely]]
      return rank;
    if (rank == A::proc_null) return format::proc_null;
    if (rank == A::any_source) return format::any_source;
    if (rank == A::root) return format::root_of_other_group;
    return rank;
  }
};

template <class A>
struct Tag : Describes {
  int tag;
  explicit Tag(int t) noexcept : tag(t) {}

  void before(Thread&, recorder::Call& call) noexcept { call.tag = normal(tag); }
  static std::int32_t normal(int tag) noexcept { return tag == A::any_tag ? format::any_tag : tag; }
};

}  // namespace tare::mpi
