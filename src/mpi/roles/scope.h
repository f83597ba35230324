// Roles of windows and files, which one-sided and file operations name instead of a communicator.
#pragma once

#include "mpi/objects/used_files.h"
#include "mpi/roles/envelope.h"

namespace tare::mpi {

template <ScopeKind kind, class Handle>
struct OnScope : Describes {
  static constexpr unsigned traffic = recorder::scoped;
  Handle handle;
  explicit OnScope(Handle h) noexcept : handle(h) {}

  void before(Thread& thread, recorder::Call& call) noexcept {
    const Communicator& known = known_communicator(thread, scope_bits(kind, handle));
    call.communicator = known.number;
    call.scope = known.scope;
  }
  // All functions of MPI return 0 if they succeed.
  void committed(Thread& thread, const recorder::Call& call, format::ProfileRow&, int result) noexcept {
    if constexpr (kind == ScopeKind::file)
      if (counts_files()) count_file_call(thread, call, result != 0);
  }
};

template <class A>
struct OnWindow : OnScope<ScopeKind::window, typename A::Win> {
  using OnScope<ScopeKind::window, typename A::Win>::OnScope;
};
template <class A>
struct OnFile : OnScope<ScopeKind::file, typename A::File> {
  using OnScope<ScopeKind::file, typename A::File>::OnScope;
};

// Of MPI_Win_post and MPI_Win_start. Only the trace has the group.
template <class A>
struct OfGroup : Describes {
  typename A::Group group;
  explicit OfGroup(typename A::Group g) noexcept : group(g) {}
  void after(Thread& thread, recorder::Call& call, int result) noexcept {
    if (result == A::success && thread.traced()) call.tag = static_cast<std::int32_t>(epoch_group<A>(group));
  }
};

// Of MPI_Win_lock.
template <class A>
struct TakesLock : Describes {
  int type;
  explicit TakesLock(int t) noexcept : type(t) {}
  void after(Thread&, recorder::Call& call, int) noexcept {
    call.tag = type == A::lock_shared ? format::shared_lock : format::exclusive_lock;
  }
};

// MPI_Win_create and similar functions.
template <class A>
struct MakesWindow : Role {
  typename A::Comm comm;
  const typename A::Win* made;
  format::WindowFlavour flavour;
  MakesWindow(typename A::Comm c, const typename A::Win* m, format::WindowFlavour f) noexcept
      : comm(c), made(m), flavour(f) {}

  void after(Thread& thread, recorder::Call&, int result) noexcept {
    if (result != A::success) return;
    const std::uint64_t handle = scope_bits(ScopeKind::window, *made);
    remove_scope(handle);  // the handle may have belonged to another
    add_window(handle, known_communicator(thread, bits(comm)), flavour);
  }
};

template <class A>
struct NamesWindow : OnWindow<A> {
  const char* name;
  static bool is_needed(const Thread&) noexcept { return true; }
  NamesWindow(typename A::Win window, const char* n) noexcept : OnWindow<A>(window), name(n) {}
  void after(Thread&, recorder::Call& call, int result) noexcept {
    if (result == A::success) rename_window(call.scope, name);
  }
};

template <class A>
struct OpensFile : Role {
  static constexpr unsigned traffic = recorder::scoped;
  typename A::Comm comm;
  const typename A::File* made;
  const char* name;
  OpensFile(typename A::Comm c, const typename A::File* m, const char* n) noexcept : comm(c), made(m), name(n) {}

  // The call is then one on the file.
  void after(Thread& thread, recorder::Call& call, int result) noexcept {
    if (result != A::success) return;
    const std::uint64_t handle = scope_bits(ScopeKind::file, *made);
    remove_scope(handle);
    add_file(handle, known_communicator(thread, bits(comm)), name);
    const Communicator& known = known_communicator(thread, handle);
    call.communicator = known.number;
    call.scope = known.scope;
  }
  void committed(Thread& thread, const recorder::Call& call, format::ProfileRow&, int result) noexcept {
    if (counts_files()) count_open(thread, call, call.scope, name, result != A::success);
  }
};

// MPI_Win_free, MPI_File_close: the handle is forgotten before the call, because another thread may get the same value.
template <class A, ScopeKind kind, class Handle>
struct Closes : OnScope<kind, Handle> {
  static bool is_needed(const Thread&) noexcept { return true; }
  explicit Closes(const Handle* handle) noexcept : OnScope<kind, Handle>(handle == nullptr ? Handle{} : *handle) {}
  void before(Thread& thread, recorder::Call& call) noexcept {
    OnScope<kind, Handle>::before(thread, call);
    if (call.communicator != format::no_communicator) remove_scope(scope_bits(kind, this->handle));
  }
};
template <class A>
struct FreesWindow : Closes<A, ScopeKind::window, typename A::Win> {
  using Closes<A, ScopeKind::window, typename A::Win>::Closes;
};
template <class A>
struct FreesFile : Closes<A, ScopeKind::file, typename A::File> {
  using Closes<A, ScopeKind::file, typename A::File>::Closes;
};

}  // namespace tare::mpi
