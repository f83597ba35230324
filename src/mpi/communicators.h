// The communicators of this process: from handle to number, size, rank and members.
//
// A communicator is defined (definition.h) when it is made, else at its first use. A freed handle is forgotten
// before the call that frees it, because another thread may get the same value.
//
// Its key is equal on all its members, without a message: they all make it from the same parent, as the same one of
// those of the same members (what a communicator's members do collectively they do in the same order), or without a
// parent, as the same one of these members. Members of another world have keys of their own.
#pragma once

#include "mpi/groups.h"
#include "mpi/thread.h"

namespace tare::mpi {

// What a communicator comes from, as far as all its members agree.
struct Origin {
  std::uint32_t parent = format::no_communicator;  // its number here
  std::uint64_t parent_key = 0;
  std::uint64_t label = 0;  // of the tag that tells apart what some members of the parent make by themselves
};

// Numbers and defines a communicator and finds its key, or gives what is known already; thread-safe. `described` has
// sizes, rank and groups.
Communicator add_communicator(std::uint64_t handle, Communicator described, Origin origin, const char* name) noexcept;

void forget_communicator(std::uint64_t handle) noexcept;
void rename_communicator(std::uint32_t number, const char* name) noexcept;

// Windows and files are scopes of calls. Each is known as the communicator that it was made with, and its number, by a
// handle that is made unlike those of communicators.
enum class ScopeKind : std::uint64_t { window = 1, file = 2 };
template <class Handle>
std::uint64_t scope_bits(ScopeKind kind, Handle handle) noexcept {
  return bits(handle) ^ static_cast<std::uint64_t>(kind) << 62;
}

// Numbers and defines a window; thread-safe, as the next ones.
void add_window(std::uint64_t handle, const Communicator& with, format::WindowFlavour flavour) noexcept;
// Numbers and defines a file that has been opened. One that was open before has the number that it had.
void add_file(std::uint64_t handle, const Communicator& with, const char* name) noexcept;
void forget_scope(std::uint64_t handle) noexcept;
void rename_window(std::uint32_t number, const char* name) noexcept;

// The same where the thread's cache does not have it. Thread-safe.
[[gnu::cold]] const Communicator& find_communicator(Thread& thread, std::uint64_t handle) noexcept;

// What is known of a handle's communicator, number 0 if nothing; never asks MPI. Good until the thread asks again.
[[gnu::always_inline]] inline const Communicator& known_communicator(Thread& thread, std::uint64_t handle) noexcept {
  const Thread::CommunicatorEntry& entry = thread.cached_communicator(handle);
  if (entry.handle == handle && entry.generation == Thread::generation(communicator_generation)) [[likely]]
    return entry.communicator;
  return find_communicator(thread, handle);
}

}  // namespace tare::mpi
