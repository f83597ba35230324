// Roles of calls that begin or end something: MPI itself, sessions, datatypes.
#pragma once

#include <cstdio>
#include <cstring>

#include "mpi/interposition/tool.h"
#include "mpi/objects/requests.h"
#include "mpi/roles/envelope.h"
#include "recorder/due.h"
#include "recorder/process_end.h"
#include "recorder/segment.h"
#include "stack/site.h"

namespace tare::mpi {

// The thread level as 0 to 3, whatever numbers the ABI uses.
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

// MPI_Init, MPI_Init_thread: rank and size are known from here on.
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
    note_library<A>(process);
    has_world.store(true, std::memory_order_relaxed);
    describe_communicator<A>(A::comm_world());
    if (parent != A::comm_null()) {
      process.flags |= format::spawned;
      describe_communicator<A>(parent);
    }
    stack::notice_modules();  // the modules that MPI has loaded
    recorder::note_clock();
    recorder::note_place();
    process.init_leave = recorder::now();  // ends the program's time in MPI_Init
    process.hook_init += process.init_leave - call.leave;
  }
};

// MPI_Session_init. A program without MPI_COMM_WORLD has its rank in the process set mpi://WORLD.
template <class A>
struct InitialisesSession : Role {
  const typename A::Session* session;
  explicit InitialisesSession(const typename A::Session* s) noexcept : session(s) {}

  void after(Thread&, recorder::Call& call, int result) noexcept {
    auto* segment = recorder::segment();
    if (segment == nullptr || result != A::success) return;
    format::ProcessRecord& process = segment->process;
    requests.share();  // sessions may have any thread level
    add_session(bits(*session));
    if ((process.flags & format::sessions) != 0)
      process.finalize_enter = process.finalize_leave = 0;  // the net time goes on if all sessions had ended
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
    stack::notice_modules();
    recorder::note_clock();
    process.init_enter = call.enter;
    recorder::note_place();
    process.init_leave = recorder::now();
    process.hook_init += process.init_leave - call.leave;
  }
};

// MPI_Session_finalize. Without MPI_COMM_WORLD the end of the last session is that of the net time, until another one
// begins.
template <class A>
struct FinalisesSession : Role {
  std::uint64_t handle;
  bool is_end = false;
  explicit FinalisesSession(const typename A::Session* session) noexcept
      : handle(session == nullptr ? 0 : bits(*session)) {}
  void before(Thread&, recorder::Call&) noexcept {
    auto* segment = recorder::segment();
    is_end = remove_session(handle) && segment != nullptr && (segment->process.flags & format::sessions) != 0;
    if (is_end) segment->process.finalize_enter = recorder::now();
  }
  void after(Thread&, recorder::Call& call, int) noexcept {
    auto* segment = recorder::segment();
    if (is_end && segment != nullptr) segment->process.finalize_leave = call.leave;
  }
};

struct Finalises : Role {
  void before(Thread& thread, recorder::Call&) noexcept {
    has_world.store(false, std::memory_order_relaxed);
    // The last reading within the net time, of which the time since the last call is a part.
    if (const std::uint64_t now = recorder::now(); now >= thread.due)
      recorder::do_what_is_due(thread, recorder::Piece::outside, thread.shared().current.leave, now);
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

// MPI_Abort: after it, no code of tare is certain to run.
struct Aborts : Role {
  void before(Thread&, recorder::Call&) noexcept { recorder::note_abort(); }
};

template <class A>
struct FreesDatatype : Role {
  explicit FreesDatatype(const typename A::Datatype*) noexcept {}
  void before(Thread&, recorder::Call&) noexcept { datatype_generation.fetch_add(1, std::memory_order_relaxed); }
};

// Inside another measured call, see nested_comm_free (roles/communicator.h).
template <class A, bool profiling>
int nested_type_free(typename A::Datatype* datatype) noexcept {
  datatype_generation.fetch_add(1, std::memory_order_relaxed);
  return next<int(typename A::Datatype*)>(Function::MPI_Type_free, profiling)(datatype);
}

}  // namespace tare::mpi
