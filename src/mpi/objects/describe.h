// Asks MPI what a communicator is: once, when it is made or first used.
#pragma once

#include "mpi/objects/communicators.h"
#include "recorder/system.h"

namespace tare::mpi {

// Whether the group of MPI_COMM_WORLD is available: MPI_Init has been called, or one of these sessions is open.
[[gnu::visibility("hidden")]] extern std::atomic<bool> has_world;
void add_session(std::uint64_t handle) noexcept;
// Whether it was the last one that is open.
bool remove_session(std::uint64_t handle) noexcept;
// In a forked child, which has none.
void forget_sessions() noexcept;
std::uint64_t any_session() noexcept;  // 0: none

// The handle with these bits.
template <class Handle>
Handle handle_of(std::uint64_t bits) noexcept {
  Handle handle{};
  static_assert(sizeof handle <= sizeof bits);
  __builtin_memcpy(&handle, &bits, sizeof handle);
  return handle;
}

// The group of the world, which the caller frees; the null group if there is none.
template <class A>
typename A::Group world_group() noexcept {
  using Group = typename A::Group;
  using Session = typename A::Session;
  Group world = A::group_null();
  if (has_world.load(std::memory_order_relaxed))
    library<int(typename A::Comm, Group*)>(Function::MPI_Comm_group)(A::comm_world(), &world);
  else if (const std::uint64_t session = any_session(); session != 0)
    library<int(Session, const char*, Group*)>(Function::MPI_Group_from_session_pset)(handle_of<Session>(session),
                                                                                      "mpi://WORLD", &world);
  return world;
}

// The members of a group, as ranks in the world.
template <class A>
const Group* members_in_world(typename A::Group group, typename A::Group world, std::int32_t size) noexcept {
  using Translate = int(typename A::Group, int, const int*, typename A::Group, int*);
  int comparison = A::unequal;
  library<int(typename A::Group, typename A::Group, int*)>(Function::MPI_Group_compare)(group, world, &comparison);
  if (comparison == A::ident) return add_whole_world(size);  // some libraries need long to translate a large group
  constexpr std::int32_t few = 128;
  std::int32_t on_stack[2 * few] = {};
  const std::size_t bytes = 2 * static_cast<std::size_t>(size) * sizeof(std::int32_t);
  auto* ranks = size <= few ? on_stack : static_cast<std::int32_t*>(recorder::map_memory(bytes));
  if (ranks == nullptr) return nullptr;
  std::int32_t* members = ranks + size;
  for (std::int32_t i = 0; i < size; ++i) ranks[i] = i;
  const Group* found = nullptr;
  if (library<Translate>(Function::MPI_Group_translate_ranks)(group, size, ranks, world, members) == A::success) {
    for (std::int32_t i = 0; i < size; ++i)
      if (members[i] == A::undefined) members[i] = not_in_world;
    found = add_group(members, size);
  }
  if (ranks != on_stack) recorder::unmap_memory(ranks, bytes);
  return found;
}

template <class A>
void describe_groups(typename A::Comm comm, Communicator& c) noexcept {
  using Group = typename A::Group;
  using GroupOf = int(typename A::Comm, Group*);
  const auto free = library<int(Group*)>(Function::MPI_Group_free);
  Group world = world_group<A>();
  if (world == A::group_null()) return;
  Group group = A::group_null();
  library<GroupOf>(Function::MPI_Comm_group)(comm, &group);
  c.group = c.peers = members_in_world<A>(group, world, c.size);
  free(&group);
  if (c.remote_size != 0) {
    library<GroupOf>(Function::MPI_Comm_remote_group)(comm, &group);
    c.peers = members_in_world<A>(group, world, c.remote_size);
    free(&group);
  }
  free(&world);
}

// The number of a group of an epoch (MPI_Win_post, MPI_Win_start); 0 if it is empty or not known. Groups are asked
// about each time, because a program may free them and make others with the same handle.
template <class A>
[[gnu::noinline]] std::uint32_t epoch_group(typename A::Group group) noexcept {
  using Group = typename A::Group;
  const recorder::ErrnoGuard guard;
  Group world = world_group<A>();
  if (world == A::group_null()) return 0;
  int size = 0;
  library<int(Group, int*)>(Function::MPI_Group_size)(group, &size);
  const std::uint32_t number = number_for_epochs(members_in_world<A>(group, world, size));
  library<int(Group*)>(Function::MPI_Group_free)(&world);
  return number;
}

// Asks MPI about a communicator that the MPI library has just made or accepted, and defines it.
template <class A>
[[gnu::cold]] Communicator describe_communicator(typename A::Comm comm, Origin origin = {}) noexcept {
  using Comm = typename A::Comm;
  const recorder::ErrnoGuard guard;
  Communicator c{};
  int is_inter = 0;
  char name[A::max_object_name + 1] = "";
  int length = 0;
  library<int(Comm, int*)>(Function::MPI_Comm_size)(comm, &c.size);
  library<int(Comm, int*)>(Function::MPI_Comm_rank)(comm, &c.rank);
  library<int(Comm, int*)>(Function::MPI_Comm_test_inter)(comm, &is_inter);
  if (is_inter != 0) library<int(Comm, int*)>(Function::MPI_Comm_remote_size)(comm, &c.remote_size);
  library<int(Comm, char*, int*)>(Function::MPI_Comm_get_name)(comm, name, &length);
  describe_groups<A>(comm, c);
  return add_communicator(bits(comm), c, origin, name);
}

}  // namespace tare::mpi
