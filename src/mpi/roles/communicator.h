// Roles of calls that make, name and free communicators.
#pragma once

#include "mpi/interposition/tool.h"
#include "mpi/roles/envelope.h"

namespace tare::mpi {

// A tag, in the same form on all ranks that take part in a creation.
inline std::uint64_t label_of(int tag) noexcept { return mixed(1, static_cast<std::uint32_t>(tag)); }
inline std::uint64_t label_of(const char* tag) noexcept {
  std::uint64_t label = 2;
  for (; tag != nullptr && *tag != '\0'; ++tag) label = mixed(label, static_cast<unsigned char>(*tag));
  return label;
}

// A new communicator. The parent is a communicator that all members use in this call; the null communicator if there is
// none.
template <class A>
struct MakesCommunicator : Role {
  const typename A::Comm* made;
  typename A::Comm parent;
  std::uint64_t label = 0;
  MakesCommunicator(const typename A::Comm* m, typename A::Comm p) noexcept : made(m), parent(p) {}
  template <class Label>
  MakesCommunicator(const typename A::Comm* m, typename A::Comm p, Label tag) noexcept
      : made(m), parent(p), label(label_of(tag)) {}

  void after(Thread& thread, recorder::Call&, int result) noexcept {
    if (result != A::success || *made == A::comm_null()) return;
    remove_communicator(bits(*made));  // the handle may have belonged to another
    describe_communicator<A>(*made, origin(thread));
  }
  Origin origin(Thread& thread) const noexcept {
    if (parent == A::comm_null()) return {format::no_communicator, 0, label};
    const Communicator& known = known_communicator(thread, bits(parent));
    return {known.number, known.key, label};
  }
};

// MPI_Comm_idup and similar functions. MPI cannot be asked about the new communicator before the request is complete,
// so it is described from the old one. Its key must be computed now, because communicators may be used for the first
// time in any order.
template <class A>
struct DuplicatesCommunicator : MakesCommunicator<A> {
  using MakesCommunicator<A>::MakesCommunicator;
  void after(Thread& thread, recorder::Call&, int result) noexcept {
    if (result != A::success || *this->made == A::comm_null()) return;
    remove_communicator(bits(*this->made));
    const Communicator old = known_communicator(thread, bits(this->parent));
    add_communicator(bits(*this->made), old, this->origin(thread), "");
  }
};

template <class A>
struct FreesCommunicator : Role {
  std::uint64_t handle;
  explicit FreesCommunicator(const typename A::Comm* comm) noexcept : handle(comm == nullptr ? 0 : bits(*comm)) {}
  void before(Thread& thread, recorder::Call& call) noexcept {
    call.communicator = known_communicator(thread, handle).number;
    if (call.communicator != format::no_communicator) remove_communicator(handle);
  }
};

// A communicator may be freed inside another measured call, by an attribute's delete function. That is not measured,
// but the handle must be forgotten, because MPI will use it again.
template <class A, Function F, bool profiling>
int nested_comm_free(typename A::Comm* comm) noexcept {
  if (comm != nullptr) remove_communicator(bits(*comm));
  return next<int(typename A::Comm*)>(F, profiling)(comm);
}
template <class A>
struct NamesCommunicator : Role {
  typename A::Comm comm;
  const char* name;
  NamesCommunicator(typename A::Comm c, const char* n) noexcept : comm(c), name(n) {}
  void after(Thread& thread, recorder::Call&, int result) noexcept {
    if (result == A::success) rename_communicator(known_communicator(thread, bits(comm)).number, name);
  }
};

}  // namespace tare::mpi
