// Roles of what a call moves: the bytes of its row and record. The rule is in docs/bytes.md: what the process puts into
// the operation or, if it puts nothing in, what it takes out.
#pragma once

#include "mpi/roles/neighbours.h"

namespace tare::mpi {

// Asks MPI for the size of a datatype, and remembers it.
template <class A>
[[gnu::cold, gnu::noinline]] std::uint64_t ask_size(Thread::DatatypeEntry& entry, typename A::Datatype datatype,
                                                    std::uint32_t generation) noexcept {
  if (datatype == A::datatype_null()) return 0;
  std::int64_t size = 0;
  if (has(Function::MPI_Type_size_x)) {
    typename A::Count wide = 0;
    library<int(typename A::Datatype, typename A::Count*)>(Function::MPI_Type_size_x)(datatype, &wide);
    size = wide;
  } else {
    int narrow = 0;
    library<int(typename A::Datatype, int*)>(Function::MPI_Type_size)(datatype, &narrow);
    size = narrow;
  }
  entry = {bits(datatype), generation, size};
  return static_cast<std::uint64_t>(size);
}

// Size of a datatype in bytes; 0 for the null type.
template <class A>
std::uint64_t size_of(Thread& thread, typename A::Datatype datatype) noexcept {
  const int builtin = A::builtin_size(datatype);
  if (builtin >= 0) return static_cast<std::uint64_t>(builtin);
  const std::uint64_t handle = bits(datatype);
  const std::uint32_t generation = Thread::generation(datatype_generation);
  Thread::DatatypeEntry& entry = thread.datatypes[(handle ^ (handle >> 4) ^ (handle >> 10)) % Thread::datatype_slots];
  if (entry.handle != handle || entry.generation != generation) [[unlikely]]
    return ask_size<A>(entry, datatype, generation);
  return static_cast<std::uint64_t>(entry.size);
}

// The common part. Bytes are computed after a successful call, when every argument is known to be valid.
template <class A, class Derived>
struct Volume : Describes {
  void after(Thread& thread, recorder::Call& call, int result) noexcept {
    if (result != A::success) [[unlikely]]
      return;
    call.bytes = call.peer == format::proc_null ? 0 : static_cast<Derived*>(this)->bytes(thread, call);
  }
  // The communicator of this call. Only for cold functions, because it is looked up again.
  static const Communicator& communicator(Thread& thread) noexcept {
    return known_communicator(thread, thread.shared().current.communicator);
  }
  // The sum over the partners. Counts that are not significant at this rank may be null.
  template <class Count>
  static std::uint64_t sum(const Count* counts, int n) noexcept {
    std::uint64_t elements = 0;
    for (int i = 0; counts != nullptr && i < n; ++i) elements += static_cast<std::uint64_t>(counts[i]);
    return elements;
  }
  template <class Count>
  static std::uint64_t sum_of_types(Thread& thread, const Count* counts, const typename A::Datatype* datatypes,
                                    int n) noexcept {
    std::uint64_t bytes = 0;
    if (counts != nullptr && datatypes != nullptr)
      for (int i = 0; i < n; ++i) bytes += product(thread, counts[i], datatypes[i]);
    return bytes;
  }
  template <class Count>
  static std::uint64_t product(Thread& thread, Count count, typename A::Datatype datatype) noexcept {
    return static_cast<std::uint64_t>(count) * size_of<A>(thread, datatype);
  }
};

template <class A, class Count>
struct Moves : Volume<A, Moves<A, Count>> {
  Count count;
  typename A::Datatype datatype;
  Moves(Count c, typename A::Datatype d) noexcept : count(c), datatype(d) {}
  std::uint64_t bytes(Thread& thread, const recorder::Call&) noexcept { return this->product(thread, count, datatype); }
};

template <class A, class Count>
struct MovesOne : Volume<A, MovesOne<A, Count>> {
  typename A::Datatype datatype;
  explicit MovesOne(typename A::Datatype d) noexcept : datatype(d) {}
  std::uint64_t bytes(Thread& thread, const recorder::Call&) noexcept { return size_of<A>(thread, datatype); }
};

// Partitioned communication: the count is that of one partition, and of type Count in all functions.
template <class A, class Count>
struct MovesPartitions : Volume<A, MovesPartitions<A, Count>> {
  int partitions;
  typename A::Count count;
  typename A::Datatype datatype;
  MovesPartitions(int p, typename A::Count c, typename A::Datatype d) noexcept : partitions(p), count(c), datatype(d) {}
  std::uint64_t bytes(Thread& thread, const recorder::Call&) noexcept {
    return static_cast<std::uint64_t>(partitions) * this->product(thread, count, datatype);
  }
};

// The same number of elements for each rank of the group (MPI_Reduce_scatter_block).
template <class A, class Count>
struct MovesToEach : Volume<A, MovesToEach<A, Count>> {
  Count count;
  typename A::Datatype datatype;
  MovesToEach(Count c, typename A::Datatype d) noexcept : count(c), datatype(d) {}
  std::uint64_t bytes(Thread& thread, const recorder::Call&) noexcept {
    return static_cast<std::uint64_t>(this->communicator(thread).size) * this->product(thread, count, datatype);
  }
};

// One count for each rank of the group (MPI_Reduce_scatter).
template <class A, class Count>
struct MovesCounts : Volume<A, MovesCounts<A, Count>> {
  const Count* counts;
  typename A::Datatype datatype;
  MovesCounts(const Count* c, typename A::Datatype d) noexcept : counts(c), datatype(d) {}
  std::uint64_t bytes(Thread& thread, const recorder::Call&) noexcept {
    return this->sum(counts, this->communicator(thread).size) * size_of<A>(thread, datatype);
  }
};

// Gather, allgather: the contribution of this process. In place, it lies in the receive buffer.
template <class A, class Count>
struct Contributes : Volume<A, Contributes<A, Count>> {
  const void* sendbuf;
  Count sendcount, recvcount;
  typename A::Datatype sendtype, recvtype;
  Contributes(const void* s, Count sc, typename A::Datatype st, Count rc, typename A::Datatype rt) noexcept
      : sendbuf(s), sendcount(sc), recvcount(rc), sendtype(st), recvtype(rt) {}
  std::uint64_t bytes(Thread& thread, const recorder::Call& call) noexcept {
    if (sendbuf == A::in_place()) return this->product(thread, recvcount, recvtype);
    if (call.peer == format::root_of_other_group)  // puts nothing in, and takes one contribution from each
      return static_cast<std::uint64_t>(this->communicator(thread).partners()) *
             this->product(thread, recvcount, recvtype);
    return this->product(thread, sendcount, sendtype);
  }
};

template <class A, class Count>
struct ContributesV : Volume<A, ContributesV<A, Count>> {
  const void* sendbuf;
  Count sendcount;
  const Count* recvcounts;
  typename A::Datatype sendtype, recvtype;
  ContributesV(const void* s, Count sc, typename A::Datatype st, const Count* rc, typename A::Datatype rt) noexcept
      : sendbuf(s), sendcount(sc), recvcounts(rc), sendtype(st), recvtype(rt) {}
  std::uint64_t bytes(Thread& thread, const recorder::Call& call) noexcept {
    const Communicator& c = this->communicator(thread);
    if (sendbuf == A::in_place())
      return recvcounts == nullptr ? 0 : this->product(thread, recvcounts[c.rank], recvtype);
    if (call.peer == format::root_of_other_group)
      return this->sum(recvcounts, c.partners()) * size_of<A>(thread, recvtype);
    return this->product(thread, sendcount, sendtype);
  }
};

// Whether this process is the root of a rooted collective.
inline bool is_root(const recorder::Call& call, const Communicator& c) noexcept {
  return call.peer == format::root_of_other_group || (c.remote_size == 0 && call.peer == c.rank);
}

template <class A, class Count>
struct Scatters : Volume<A, Scatters<A, Count>> {
  Count sendcount, recvcount;
  typename A::Datatype sendtype, recvtype;
  Scatters(int, Count sc, typename A::Datatype st, Count rc, typename A::Datatype rt) noexcept
      : sendcount(sc), recvcount(rc), sendtype(st), recvtype(rt) {}
  std::uint64_t bytes(Thread& thread, const recorder::Call& call) noexcept {
    const Communicator& c = this->communicator(thread);
    if (!is_root(call, c)) return this->product(thread, recvcount, recvtype);
    return static_cast<std::uint64_t>(c.partners()) * this->product(thread, sendcount, sendtype);
  }
};

template <class A, class Count>
struct ScattersV : Volume<A, ScattersV<A, Count>> {
  const Count* sendcounts;
  Count recvcount;
  typename A::Datatype sendtype, recvtype;
  ScattersV(int, const Count* sc, typename A::Datatype st, Count rc, typename A::Datatype rt) noexcept
      : sendcounts(sc), recvcount(rc), sendtype(st), recvtype(rt) {}
  std::uint64_t bytes(Thread& thread, const recorder::Call& call) noexcept {
    const Communicator& c = this->communicator(thread);
    if (!is_root(call, c)) return this->product(thread, recvcount, recvtype);
    return this->sum(sendcounts, c.partners()) * size_of<A>(thread, sendtype);
  }
};

template <class A, class Count>
struct Exchanges : Volume<A, Exchanges<A, Count>> {
  const void* sendbuf;
  Count sendcount, recvcount;
  typename A::Datatype sendtype, recvtype;
  Exchanges(const void* s, Count sc, typename A::Datatype st, Count rc, typename A::Datatype rt) noexcept
      : sendbuf(s), sendcount(sc), recvcount(rc), sendtype(st), recvtype(rt) {}
  std::uint64_t bytes(Thread& thread, const recorder::Call&) noexcept {
    const std::uint64_t one = sendbuf == A::in_place() ? this->product(thread, recvcount, recvtype)
                                                       : this->product(thread, sendcount, sendtype);
    return static_cast<std::uint64_t>(this->communicator(thread).partners()) * one;
  }
};

template <class A, class Count>
struct ExchangesV : Volume<A, ExchangesV<A, Count>> {
  const Count* counts;
  typename A::Datatype datatype;
  ExchangesV(const void* s, const Count* sc, typename A::Datatype st, const Count* rc, typename A::Datatype rt) noexcept
      : counts(s == A::in_place() ? rc : sc), datatype(s == A::in_place() ? rt : st) {}
  std::uint64_t bytes(Thread& thread, const recorder::Call&) noexcept {
    return this->sum(counts, this->communicator(thread).partners()) * size_of<A>(thread, datatype);
  }
};

template <class A, class Count>
struct ExchangesW : Volume<A, ExchangesW<A, Count>> {
  const Count* counts;
  const typename A::Datatype* datatypes;
  ExchangesW(const void* s, const Count* sc, const typename A::Datatype* st, const Count* rc,
             const typename A::Datatype* rt) noexcept
      : counts(s == A::in_place() ? rc : sc), datatypes(s == A::in_place() ? rt : st) {}
  std::uint64_t bytes(Thread& thread, const recorder::Call&) noexcept {
    return this->sum_of_types(thread, counts, datatypes, this->communicator(thread).partners());
  }
};

template <class A, class Count>
struct NeighbourExchanges : Volume<A, NeighbourExchanges<A, Count>> {
  Count count;
  typename A::Datatype datatype;
  NeighbourExchanges(Count c, typename A::Datatype d) noexcept : count(c), datatype(d) {}
  std::uint64_t bytes(Thread& thread, const recorder::Call&) noexcept {
    const Neighbours to = neighbours_of<A>(thread, thread.shared().current.communicator);
    return static_cast<std::uint64_t>(to.present(to.out)) * this->product(thread, count, datatype);
  }
};

template <class A, class Count>
struct NeighbourExchangesV : Volume<A, NeighbourExchangesV<A, Count>> {
  const Count* counts;
  typename A::Datatype datatype;
  NeighbourExchangesV(const Count* c, typename A::Datatype d) noexcept : counts(c), datatype(d) {}
  std::uint64_t bytes(Thread& thread, const recorder::Call&) noexcept {
    const Neighbours to = neighbours_of<A>(thread, thread.shared().current.communicator);
    return to.sum(to.out, [&](int i) { return this->product(thread, counts[i], datatype); });
  }
};

template <class A, class Count>
struct NeighbourExchangesW : Volume<A, NeighbourExchangesW<A, Count>> {
  const Count* counts;
  const typename A::Datatype* datatypes;
  NeighbourExchangesW(const Count* c, const typename A::Datatype* d) noexcept : counts(c), datatypes(d) {}
  std::uint64_t bytes(Thread& thread, const recorder::Call&) noexcept {
    const Neighbours to = neighbours_of<A>(thread, thread.shared().current.communicator);
    return to.sum(to.out, [&](int i) { return this->product(thread, counts[i], datatypes[i]); });
  }
};

}  // namespace tare::mpi
