// Roles of calls that put data in and take data out. They set recorder::Call::received, in addition to the bytes of
// roles/volume.h.
#pragma once

#include "mpi/roles/volume.h"

namespace tare::mpi {

// The common part. It is computed after a successful call, as bytes are. taken() is format::no_bytes if nothing is
// taken, or if the bytes contain it.
template <class A, class Derived>
struct Received : Volume<A, Derived> {
  static constexpr unsigned traffic = recorder::exchanges;
  void after(Thread& thread, recorder::Call& call, int result) noexcept {
    if (result != A::success || call.peer == format::proc_null) [[unlikely]]
      return;
    call.received = static_cast<Derived*>(this)->taken(thread, call);
  }
  // Whether this process is the root of an intracommunicator. In an intercommunicator, a process only takes or only
  // puts in.
  static bool is_inner_root(const recorder::Call& call, const Communicator& c) noexcept {
    return c.remote_size == 0 && call.peer == c.rank;
  }
};

template <class A, class Count>
struct Takes : Received<A, Takes<A, Count>> {
  Count count;
  typename A::Datatype datatype;
  Takes(Count c, typename A::Datatype d) noexcept : count(c), datatype(d) {}
  std::uint64_t taken(Thread& thread, const recorder::Call&) noexcept { return this->product(thread, count, datatype); }
};

// MPI_Exscan: the result at the first rank is undefined.
template <class A, class Count>
struct TakesUnlessFirst : Received<A, TakesUnlessFirst<A, Count>> {
  Count count;
  typename A::Datatype datatype;
  TakesUnlessFirst(Count c, typename A::Datatype d) noexcept : count(c), datatype(d) {}
  std::uint64_t taken(Thread& thread, const recorder::Call&) noexcept {
    return this->communicator(thread).rank == 0 ? format::no_bytes : this->product(thread, count, datatype);
  }
};

template <class A, class Count>
struct TakesAtRoot : Received<A, TakesAtRoot<A, Count>> {
  Count count;
  typename A::Datatype datatype;
  TakesAtRoot(Count c, typename A::Datatype d) noexcept : count(c), datatype(d) {}
  std::uint64_t taken(Thread& thread, const recorder::Call& call) noexcept {
    if (!this->is_inner_root(call, this->communicator(thread))) return format::no_bytes;
    return this->product(thread, count, datatype);
  }
};

template <class A, class Count>
struct TakesFromEachAtRoot : Received<A, TakesFromEachAtRoot<A, Count>> {
  Count count;
  typename A::Datatype datatype;
  TakesFromEachAtRoot(Count c, typename A::Datatype d) noexcept : count(c), datatype(d) {}
  std::uint64_t taken(Thread& thread, const recorder::Call& call) noexcept {
    const Communicator& c = this->communicator(thread);
    if (!this->is_inner_root(call, c)) return format::no_bytes;
    return static_cast<std::uint64_t>(c.size) * this->product(thread, count, datatype);
  }
};

template <class A, class Count>
struct TakesCountsAtRoot : Received<A, TakesCountsAtRoot<A, Count>> {
  const Count* counts;
  typename A::Datatype datatype;
  TakesCountsAtRoot(const Count* c, typename A::Datatype d) noexcept : counts(c), datatype(d) {}
  std::uint64_t taken(Thread& thread, const recorder::Call& call) noexcept {
    const Communicator& c = this->communicator(thread);
    if (!this->is_inner_root(call, c)) return format::no_bytes;
    return this->sum(counts, c.size) * size_of<A>(thread, datatype);
  }
};

// The part of the root in what it scatters.
template <class A, class Count>
struct TakesShareAtRoot : Received<A, TakesShareAtRoot<A, Count>> {
  const void* recvbuf;
  Count count;
  typename A::Datatype datatype;
  TakesShareAtRoot(const void* r, Count c, typename A::Datatype d) noexcept : recvbuf(r), count(c), datatype(d) {}
  std::uint64_t taken(Thread& thread, const recorder::Call& call) noexcept {
    if (recvbuf == A::in_place() || !this->is_inner_root(call, this->communicator(thread))) return format::no_bytes;
    return this->product(thread, count, datatype);
  }
};

template <class A, class Count>
struct TakesFromEach : Received<A, TakesFromEach<A, Count>> {
  Count count;
  typename A::Datatype datatype;
  TakesFromEach(Count c, typename A::Datatype d) noexcept : count(c), datatype(d) {}
  std::uint64_t taken(Thread& thread, const recorder::Call&) noexcept {
    return static_cast<std::uint64_t>(this->communicator(thread).partners()) * this->product(thread, count, datatype);
  }
};

template <class A, class Count>
struct TakesCounts : Received<A, TakesCounts<A, Count>> {
  const Count* counts;
  typename A::Datatype datatype;
  TakesCounts(const Count* c, typename A::Datatype d) noexcept : counts(c), datatype(d) {}
  std::uint64_t taken(Thread& thread, const recorder::Call&) noexcept {
    return this->sum(counts, this->communicator(thread).partners()) * size_of<A>(thread, datatype);
  }
};

template <class A, class Count>
struct TakesTypes : Received<A, TakesTypes<A, Count>> {
  const Count* counts;
  const typename A::Datatype* datatypes;
  TakesTypes(const Count* c, const typename A::Datatype* d) noexcept : counts(c), datatypes(d) {}
  std::uint64_t taken(Thread& thread, const recorder::Call&) noexcept {
    return this->sum_of_types(thread, counts, datatypes, this->communicator(thread).partners());
  }
};

// MPI_Reduce_scatter: the part of this rank.
template <class A, class Count>
struct TakesOwn : Received<A, TakesOwn<A, Count>> {
  const Count* counts;
  typename A::Datatype datatype;
  TakesOwn(const Count* c, typename A::Datatype d) noexcept : counts(c), datatype(d) {}
  std::uint64_t taken(Thread& thread, const recorder::Call&) noexcept {
    const int rank = this->communicator(thread).rank;
    return counts == nullptr ? 0 : this->product(thread, counts[rank], datatype);
  }
};

template <class A, class Count>
struct TakesFromNeighbours : Received<A, TakesFromNeighbours<A, Count>> {
  Count count;
  typename A::Datatype datatype;
  TakesFromNeighbours(Count c, typename A::Datatype d) noexcept : count(c), datatype(d) {}
  std::uint64_t taken(Thread& thread, const recorder::Call&) noexcept {
    const Neighbours from = neighbours_of<A>(thread, thread.shared().current.communicator);
    return static_cast<std::uint64_t>(from.present(from.in)) * this->product(thread, count, datatype);
  }
};

template <class A, class Count>
struct TakesNeighbourCounts : Received<A, TakesNeighbourCounts<A, Count>> {
  const Count* counts;
  typename A::Datatype datatype;
  TakesNeighbourCounts(const Count* c, typename A::Datatype d) noexcept : counts(c), datatype(d) {}
  std::uint64_t taken(Thread& thread, const recorder::Call&) noexcept {
    const Neighbours from = neighbours_of<A>(thread, thread.shared().current.communicator);
    return from.sum(from.in, [&](int i) { return this->product(thread, counts[i], datatype); });
  }
};

template <class A, class Count>
struct TakesNeighbourTypes : Received<A, TakesNeighbourTypes<A, Count>> {
  const Count* counts;
  const typename A::Datatype* datatypes;
  TakesNeighbourTypes(const Count* c, const typename A::Datatype* d) noexcept : counts(c), datatypes(d) {}
  std::uint64_t taken(Thread& thread, const recorder::Call&) noexcept {
    const Neighbours from = neighbours_of<A>(thread, thread.shared().current.communicator);
    return from.sum(from.in, [&](int i) { return this->product(thread, counts[i], datatypes[i]); });
  }
};

// MPI_Get_accumulate: the former content of the target.
template <class A, class Count>
struct FetchesBack : Received<A, FetchesBack<A, Count>> {
  Count count;
  typename A::Datatype datatype;
  FetchesBack(Count c, typename A::Datatype d) noexcept : count(c), datatype(d) {}
  std::uint64_t taken(Thread& thread, recorder::Call& call) noexcept {
    call.source = call.peer;
    return this->product(thread, count, datatype);
  }
};

template <class A, class Count>
struct FetchesOneBack : Received<A, FetchesOneBack<A, Count>> {
  typename A::Datatype datatype;
  explicit FetchesOneBack(typename A::Datatype d) noexcept : datatype(d) {}
  std::uint64_t taken(Thread& thread, recorder::Call& call) noexcept {
    call.source = call.peer;
    return size_of<A>(thread, datatype);
  }
};

}  // namespace tare::mpi
