// What a call moves: the bytes of its row and record. The rule is in docs/bytes.md: what the process puts into the
// operation or, if it puts nothing in, what it takes out. What calls take out that also put in is `received`.
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

// The rules of mpi/functions.toml, by their names: bytes from the arguments of a successful call, which are all known
// to be valid. Counts that are not significant at this rank may be null. Rules that look at the group are called, not
// inlined: many functions have them, and to find the communicator takes longer than a call.
template <class A>
struct Amount {
  using Datatype = typename A::Datatype;
  using Call = const recorder::Call;

  template <class Count>
  static std::uint64_t moves(Thread& thread, Call&, Count count, Datatype datatype) noexcept {
    return static_cast<std::uint64_t>(count) * size_of<A>(thread, datatype);
  }
  static std::uint64_t moves_one(Thread& thread, Call&, Datatype datatype) noexcept {
    return size_of<A>(thread, datatype);
  }
  // Partitioned communication: the count is that of one partition.
  static std::uint64_t moves_partitions(Thread& thread, Call& call, int partitions, typename A::Count count,
                                        Datatype datatype) noexcept {
    return static_cast<std::uint64_t>(partitions) * moves(thread, call, count, datatype);
  }
  // The same number of elements for each rank of the group (MPI_Reduce_scatter_block).
  template <class Count>
  [[gnu::noinline]] static std::uint64_t moves_to_each(Thread& thread, Call& call, Count count,
                                                       Datatype datatype) noexcept {
    return times(communicator(thread).size, moves(thread, call, count, datatype));
  }
  // One count for each rank of the group (MPI_Reduce_scatter).
  template <class Count>
  [[gnu::noinline]] static std::uint64_t moves_counts(Thread& thread, Call&, const Count* counts,
                                                      Datatype datatype) noexcept {
    return sum(counts, communicator(thread).size) * size_of<A>(thread, datatype);
  }
  // Gather, allgather: the contribution of this process. In place, it lies in the receive buffer.
  template <class Count>
  [[gnu::noinline]] static std::uint64_t contributes(Thread& thread, Call& call, const void* sendbuf, Count sendcount,
                                                     Datatype sendtype, Count recvcount, Datatype recvtype) noexcept {
    if (sendbuf == A::in_place()) return moves(thread, call, recvcount, recvtype);
    // It puts nothing in, and takes one contribution from each.
    if (call.peer == format::root_of_other_group) return takes_from_each(thread, call, recvcount, recvtype);
    return moves(thread, call, sendcount, sendtype);
  }
  template <class Count>
  [[gnu::noinline]] static std::uint64_t contributes_v(Thread& thread, Call& call, const void* sendbuf, Count sendcount,
                                                       Datatype sendtype, const Count* recvcounts,
                                                       Datatype recvtype) noexcept {
    if (sendbuf == A::in_place()) return takes_own(thread, call, recvcounts, recvtype);
    if (call.peer == format::root_of_other_group) return takes_counts(thread, call, recvcounts, recvtype);
    return moves(thread, call, sendcount, sendtype);
  }
  template <class Count>
  [[gnu::noinline]] static std::uint64_t scatters(Thread& thread, Call& call, Count sendcount, Datatype sendtype,
                                                  Count recvcount, Datatype recvtype) noexcept {
    if (!is_root(thread, call)) return moves(thread, call, recvcount, recvtype);
    return takes_from_each(thread, call, sendcount, sendtype);
  }
  template <class Count>
  [[gnu::noinline]] static std::uint64_t scatters_v(Thread& thread, Call& call, const Count* sendcounts,
                                                    Datatype sendtype, Count recvcount, Datatype recvtype) noexcept {
    if (!is_root(thread, call)) return moves(thread, call, recvcount, recvtype);
    return takes_counts(thread, call, sendcounts, sendtype);
  }
  template <class Count>
  [[gnu::noinline]] static std::uint64_t exchanges(Thread& thread, Call& call, const void* sendbuf, Count sendcount,
                                                   Datatype sendtype, Count recvcount, Datatype recvtype) noexcept {
    const bool in_place = sendbuf == A::in_place();
    return takes_from_each(thread, call, in_place ? recvcount : sendcount, in_place ? recvtype : sendtype);
  }
  template <class Count>
  [[gnu::noinline]] static std::uint64_t exchanges_v(Thread& thread, Call& call, const void* sendbuf,
                                                     const Count* sendcounts, Datatype sendtype,
                                                     const Count* recvcounts, Datatype recvtype) noexcept {
    const bool in_place = sendbuf == A::in_place();
    return takes_counts(thread, call, in_place ? recvcounts : sendcounts, in_place ? recvtype : sendtype);
  }
  template <class Count>
  [[gnu::noinline]] static std::uint64_t exchanges_w(Thread& thread, Call& call, const void* sendbuf,
                                                     const Count* sendcounts, const Datatype* sendtypes,
                                                     const Count* recvcounts, const Datatype* recvtypes) noexcept {
    const bool in_place = sendbuf == A::in_place();
    return takes_types(thread, call, in_place ? recvcounts : sendcounts, in_place ? recvtypes : sendtypes);
  }
  template <class Count>
  [[gnu::noinline]] static std::uint64_t neighbour_exchanges(Thread& thread, Call& call, Count count,
                                                             Datatype datatype) noexcept {
    const Neighbours to = neighbours(thread);
    return times(to.present(to.out), moves(thread, call, count, datatype));
  }
  template <class Count>
  [[gnu::noinline]] static std::uint64_t neighbour_exchanges_v(Thread& thread, Call& call, const Count* counts,
                                                               Datatype datatype) noexcept {
    const Neighbours to = neighbours(thread);
    return to.sum(to.out, [&](int i) { return moves(thread, call, counts[i], datatype); });
  }
  template <class Count>
  [[gnu::noinline]] static std::uint64_t neighbour_exchanges_w(Thread& thread, Call& call, const Count* counts,
                                                               const Datatype* datatypes) noexcept {
    const Neighbours to = neighbours(thread);
    return to.sum(to.out, [&](int i) { return moves(thread, call, counts[i], datatypes[i]); });
  }

  // What is taken out beside that; format::no_bytes: nothing is, or it is part of what is put in.
  template <class Count>
  static std::uint64_t takes(Thread& thread, Call& call, Count count, Datatype datatype) noexcept {
    return moves(thread, call, count, datatype);
  }
  // MPI_Exscan: the result at the first rank is undefined.
  template <class Count>
  [[gnu::noinline]] static std::uint64_t takes_unless_first(Thread& thread, Call& call, Count count,
                                                            Datatype datatype) noexcept {
    return communicator(thread).rank == 0 ? format::no_bytes : moves(thread, call, count, datatype);
  }
  template <class Count>
  [[gnu::noinline]] static std::uint64_t takes_at_root(Thread& thread, Call& call, Count count,
                                                       Datatype datatype) noexcept {
    return is_inner_root(thread, call) ? moves(thread, call, count, datatype) : format::no_bytes;
  }
  template <class Count>
  [[gnu::noinline]] static std::uint64_t takes_from_each(Thread& thread, Call& call, Count count,
                                                         Datatype datatype) noexcept {
    return times(communicator(thread).partners(), moves(thread, call, count, datatype));
  }
  template <class Count>
  [[gnu::noinline]] static std::uint64_t takes_from_each_at_root(Thread& thread, Call& call, Count count,
                                                                 Datatype datatype) noexcept {
    return is_inner_root(thread, call) ? moves_to_each(thread, call, count, datatype) : format::no_bytes;
  }
  template <class Count>
  [[gnu::noinline]] static std::uint64_t takes_counts(Thread& thread, Call&, const Count* counts,
                                                      Datatype datatype) noexcept {
    return sum(counts, communicator(thread).partners()) * size_of<A>(thread, datatype);
  }
  template <class Count>
  [[gnu::noinline]] static std::uint64_t takes_counts_at_root(Thread& thread, Call& call, const Count* counts,
                                                              Datatype datatype) noexcept {
    return is_inner_root(thread, call) ? moves_counts(thread, call, counts, datatype) : format::no_bytes;
  }
  // The part of the root in what it scatters.
  template <class Count>
  [[gnu::noinline]] static std::uint64_t takes_share_at_root(Thread& thread, Call& call, const void* recvbuf,
                                                             Count count, Datatype datatype) noexcept {
    return recvbuf == A::in_place() ? format::no_bytes : takes_at_root(thread, call, count, datatype);
  }
  template <class Count>
  [[gnu::noinline]] static std::uint64_t takes_types(Thread& thread, Call& call, const Count* counts,
                                                     const Datatype* datatypes) noexcept {
    std::uint64_t bytes = 0;
    const int partners = communicator(thread).partners();
    if (counts != nullptr && datatypes != nullptr)
      for (int i = 0; i < partners; ++i) bytes += moves(thread, call, counts[i], datatypes[i]);
    return bytes;
  }
  // MPI_Reduce_scatter: the part of this rank.
  template <class Count>
  [[gnu::noinline]] static std::uint64_t takes_own(Thread& thread, Call& call, const Count* counts,
                                                   Datatype datatype) noexcept {
    return counts == nullptr ? 0 : moves(thread, call, counts[communicator(thread).rank], datatype);
  }
  template <class Count>
  [[gnu::noinline]] static std::uint64_t takes_from_neighbours(Thread& thread, Call& call, Count count,
                                                               Datatype datatype) noexcept {
    const Neighbours from = neighbours(thread);
    return times(from.present(from.in), moves(thread, call, count, datatype));
  }
  template <class Count>
  [[gnu::noinline]] static std::uint64_t takes_neighbour_counts(Thread& thread, Call& call, const Count* counts,
                                                                Datatype datatype) noexcept {
    const Neighbours from = neighbours(thread);
    return from.sum(from.in, [&](int i) { return moves(thread, call, counts[i], datatype); });
  }
  template <class Count>
  [[gnu::noinline]] static std::uint64_t takes_neighbour_types(Thread& thread, Call& call, const Count* counts,
                                                               const Datatype* datatypes) noexcept {
    const Neighbours from = neighbours(thread);
    return from.sum(from.in, [&](int i) { return moves(thread, call, counts[i], datatypes[i]); });
  }
  // MPI_Get_accumulate: the former content of the target.
  template <class Count>
  [[gnu::noinline]] static std::uint64_t fetches_back(Thread& thread, recorder::Call& call, Count count,
                                                      Datatype datatype) noexcept {
    call.source = call.peer;
    return moves(thread, call, count, datatype);
  }
  static std::uint64_t fetches_one_back(Thread& thread, recorder::Call& call, Datatype datatype) noexcept {
    return fetches_back(thread, call, 1, datatype);
  }

 private:
  // The communicator of this call. Only for cold functions, because it is looked up again.
  static const Communicator& communicator(Thread& thread) noexcept {
    return known_communicator(thread, thread.shared().current.communicator);
  }
  static Neighbours neighbours(Thread& thread) noexcept {
    return neighbours_of<A>(thread, thread.shared().current.communicator);
  }
  // Whether this process is the root of an intracommunicator. In an intercommunicator, a process only takes or only
  // puts in.
  static bool is_inner_root(Thread& thread, Call& call) noexcept {
    const Communicator& c = communicator(thread);
    return c.remote_size == 0 && call.peer == c.rank;
  }
  static bool is_root(Thread& thread, Call& call) noexcept {
    return call.peer == format::root_of_other_group || is_inner_root(thread, call);
  }
  static std::uint64_t times(int count, std::uint64_t bytes) noexcept {
    return static_cast<std::uint64_t>(count) * bytes;
  }
  template <class Count>
  static std::uint64_t sum(const Count* counts, int n) noexcept {
    std::uint64_t elements = 0;
    for (int i = 0; counts != nullptr && i < n; ++i) elements += static_cast<std::uint64_t>(counts[i]);
    return elements;
  }
};

// Sets the bytes of a call. `amount` applies a rule to its arguments. `exchanges`: it receives as well, so it has sent
// its message if what it received was too long.
template <class A, bool exchanges, class Rule>
struct Moves : Describes {
  Rule amount;
  explicit Moves(Rule rule) noexcept : amount(rule) {}
  void after(Thread& thread, recorder::Call& call, int result) noexcept {
    if (result != A::success) [[unlikely]]
      if (!exchanges || !was_truncated<A>(result)) return;
    call.bytes = call.peer == format::proc_null ? 0 : amount(thread, call);
  }
};

// Sets what a call takes out that also puts in.
template <class A, class Rule>
struct Takes : Describes {
  static constexpr unsigned traffic = recorder::exchanges;
  Rule amount;
  explicit Takes(Rule rule) noexcept : amount(rule) {}
  void after(Thread& thread, recorder::Call& call, int result) noexcept {
    if (result != A::success || call.peer == format::proc_null) [[unlikely]]
      return;
    call.received = amount(thread, call);
  }
};

template <class A, class Rule>
Moves<A, false, Rule> moves(Rule amount) noexcept {
  return Moves<A, false, Rule>(amount);
}
template <class A, class Rule>
Moves<A, true, Rule> moves_and_receives(Rule amount) noexcept {
  return Moves<A, true, Rule>(amount);
}
template <class A, class Rule>
Takes<A, Rule> takes(Rule amount) noexcept {
  return Takes<A, Rule>(amount);
}

}  // namespace tare::mpi
