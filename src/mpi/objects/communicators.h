// The communicators of this process: from handle to number, size, rank and members.
//
// A communicator is defined (definition.h) when it is made, or else at its first use. A handle is forgotten before the
// call that frees it, because another thread may get the same value.
//
// The key of a communicator is equal on all its members, and needs no message. Members perform collective operations on
// a communicator in the same order. So if several communicators with the same members come from one parent, each of
// them has the same number on all members. The key is made of the parent's key, the members and that number. Members of
// another world have other keys.
#pragma once

#include "mpi/calls/thread.h"
#include "mpi/objects/groups.h"

namespace tare::mpi {

// A communicator also belongs to a family (format/communicator_number.h): the first 16 with the same members and a
// parent of the same family have one each, and all further ones are one. So a program that makes and frees one
// communicator after the other fills no table.

// Where a communicator comes from, as far as all its members know the same.
struct Origin {
  std::uint32_t parent = format::no_communicator;  // its number here
  std::uint64_t parent_key = 0;
  std::uint64_t label = 0;  // hash of the tag that distinguishes communicators made by some members of the parent
};

// Numbers and defines a communicator and computes its key, or returns what is known already. Thread-safe. `described`
// has sizes, rank and groups.
Communicator add_communicator(std::uint64_t handle, Communicator described, Origin origin, const char* name) noexcept;

void remove_communicator(std::uint64_t handle) noexcept;
void rename_communicator(std::uint32_t number, const char* name) noexcept;

// Windows and files are scopes of calls. Each is a communicator, that which it was made with, and a number of its own.
// Their handles are changed so that they differ from those of communicators.
enum class ScopeKind : std::uint64_t { window = 1, file = 2 };
template <class Handle>
std::uint64_t scope_bits(ScopeKind kind, Handle handle) noexcept {
  return bits(handle) ^ static_cast<std::uint64_t>(kind) << 62;
}

// Numbers and defines a window; thread-safe, as the next ones.
void add_window(std::uint64_t handle, const Communicator& with, format::WindowFlavour flavour) noexcept;
// Numbers and defines a file that has been opened. If the file was open before, it keeps its number.
void add_file(std::uint64_t handle, const Communicator& with, const char* name) noexcept;
void remove_scope(std::uint64_t handle) noexcept;
void rename_window(std::uint32_t number, const char* name) noexcept;

// The same, if the thread's cache does not have it. Thread-safe.
[[gnu::cold]] const Communicator& find_communicator(Thread& thread, std::uint64_t handle) noexcept;

// The communicator of a handle, with number 0 if it is not known. Never asks MPI. Valid until the thread's next call.
[[gnu::always_inline]] inline const Communicator& known_communicator(Thread& thread, std::uint64_t handle) noexcept {
  const Thread::CommunicatorEntry& entry = thread.cached_communicator(handle);
  if (entry.handle == handle && entry.generation == Thread::generation(communicator_generation)) [[likely]]
    return entry.communicator;
  return find_communicator(thread, handle);
}

}  // namespace tare::mpi
