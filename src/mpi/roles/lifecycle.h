// Roles of calls that begin or end something: MPI itself, communicators, datatypes.
#pragma once

#include <cstdio>
#include <cstring>

#include "mpi/requests.h"
#include "mpi/roles/envelope.h"
#include "mpi/site.h"
#include "recorder/process.h"

namespace tare::mpi {

// The thread level as 0 .. 3, whatever numbers the ABI uses for it.
template <class A>
std::uint8_t thread_level_of(int level) noexcept {
  if (level == A::thread_multiple) return 3;
  if (level == A::thread_serialized) return 2;
  return level == A::thread_funneled ? 1 : 0;
}

template <class A>
void note_library(format::ProcessRecord& process) noexcept {
  char version[A::max_library_version_string + 1] = "";
  int length = 0;
  if (has(Function::MPI_Get_library_version))
    library<int(char*, int*)>(Function::MPI_Get_library_version)(version, &length);
  version[std::strcspn(version, "\n")] = '\0';
  constexpr int room = sizeof process.mpi_library - 1;
  std::snprintf(process.mpi_library, sizeof process.mpi_library, "%.*s", room, version);
}

// MPI_Init, MPI_Init_thread: from here on rank and size are known.
template <class A>
struct Initialises : Role {
  const int* provided = nullptr;
  Initialises() noexcept = default;
  explicit Initialises(const int* p) noexcept : provided(p) {}

  void before(Thread&, recorder::Call&) noexcept {
    if (auto* segment = recorder::segment(); segment != nullptr && segment->process.init_enter == 0)
      segment->process.init_enter = recorder::now();
  }
  void after(Thread&, recorder::Call& call, int result) noexcept {
    auto* segment = recorder::segment();
    if (segment == nullptr || result != A::success) return;
    using Comm = typename A::Comm;
    format::ProcessRecord& process = segment->process;
    process.thread_level = thread_level_of<A>(provided == nullptr ? A::thread_single : *provided);
    if (process.thread_level == 3) requests.share();
    library<int(Comm, int*)>(Function::MPI_Comm_size)(A::comm_world(), &process.size);
    library<int(Comm, int*)>(Function::MPI_Comm_rank)(A::comm_world(), &process.rank);
    Comm parent = A::comm_null();
    library<int(Comm*)>(Function::MPI_Comm_get_parent)(&parent);
    if (parent != A::comm_null()) process.flags |= format::spawned;
    note_library<A>(process);
    describe_communicator<A>(A::comm_world());
    notice_modules();  // what MPI has loaded meanwhile
    recorder::note_clock();
    process.init_leave = call.leave;
    process.hook_init += recorder::now() - call.leave;
  }
};

// MPI_Session_init: a program without a world communicator has its rank in the process set mpi://WORLD.
template <class A>
struct InitialisesSession : Role {
  const typename A::Session* session;
  explicit InitialisesSession(const typename A::Session* s) noexcept : session(s) {}

  void after(Thread&, recorder::Call& call, int result) noexcept {
    auto* segment = recorder::segment();
    if (segment == nullptr || result != A::success) return;
    format::ProcessRecord& process = segment->process;
    requests.share();  // sessions may be of any thread level, each its own
    if (process.rank >= 0) return;
    using Group = typename A::Group;
    Group group = A::group_null();
    const auto from_set = library<int(typename A::Session, const char*, Group*)>(Function::MPI_Group_from_session_pset);
    if (from_set(*session, "mpi://WORLD", &group) != A::success) return;
    library<int(Group, int*)>(Function::MPI_Group_rank)(group, &process.rank);
    library<int(Group, int*)>(Function::MPI_Group_size)(group, &process.size);
    library<int(Group*)>(Function::MPI_Group_free)(&group);
    process.flags |= format::sessions;
    note_library<A>(process);
    notice_modules();
    recorder::note_clock();
    process.init_enter = call.enter;
    process.init_leave = call.leave;
    process.hook_init += recorder::now() - call.leave;
  }
};

struct Finalises : Role {
  void before(Thread&, recorder::Call&) noexcept {
    if (auto* segment = recorder::segment()) segment->process.finalize_enter = recorder::now();
  }
  void after(Thread&, recorder::Call& call, int) noexcept {
    auto* segment = recorder::segment();
    if (segment == nullptr) return;
    format::ProcessRecord& process = segment->process;
    process.finalize_leave = process.end = call.leave;
    if (process.state == format::ProcessState::running) process.state = format::ProcessState::finalized;
    recorder::note_clock();
    process.hook_finalize += recorder::now() - call.leave;
  }
};

// MPI_Abort: nothing of tare runs after it for certain.
struct Aborts : Role {
  void before(Thread&, recorder::Call&) noexcept { recorder::note_abort(); }
};

template <class A>
struct MakesCommunicator : Role {
  const typename A::Comm* made;
  explicit MakesCommunicator(const typename A::Comm* m) noexcept : made(m) {}
  void after(Thread&, recorder::Call&, int result) noexcept {
    if (result != A::success || *made == A::comm_null()) return;
    forget_communicator(bits(*made));  // whatever had this handle before exists no more
    describe_communicator<A>(*made);
  }
};

template <class A>
struct FreesCommunicator : Role {
  std::uint64_t handle;
  explicit FreesCommunicator(const typename A::Comm* comm) noexcept : handle(comm == nullptr ? 0 : bits(*comm)) {}
  void before(Thread& thread, recorder::Call& call) noexcept {
    call.communicator = known_communicator(thread, handle).number;
    if (call.communicator != format::no_communicator) forget_communicator(handle);
  }
};

// Frees inside another measured call (an attribute's delete function may free communicators) are not measured, but
// the handle must be forgotten all the same, for MPI will use it again.
template <class A, Function F, bool profiling>
int nested_comm_free(typename A::Comm* comm) noexcept {
  if (comm != nullptr) forget_communicator(bits(*comm));
  return below<int(typename A::Comm*)>(F, profiling)(comm);
}
template <class A, bool profiling>
int nested_type_free(typename A::Datatype* datatype) noexcept {
  datatype_generation.fetch_add(1, std::memory_order_relaxed);
  return below<int(typename A::Datatype*)>(Function::MPI_Type_free, profiling)(datatype);
}

template <class A>
struct NamesCommunicator : Role {
  typename A::Comm comm;
  const char* name;
  NamesCommunicator(typename A::Comm c, const char* n) noexcept : comm(c), name(n) {}
  void after(Thread&, recorder::Call&, int result) noexcept {
    if (result == A::success) rename_communicator(bits(comm), name);
  }
};

template <class A>
struct FreesDatatype : Role {
  explicit FreesDatatype(const typename A::Datatype*) noexcept {}
  void before(Thread&, recorder::Call&) noexcept { datatype_generation.fetch_add(1, std::memory_order_relaxed); }
};

}  // namespace tare::mpi
