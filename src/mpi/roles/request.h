// Roles of requests: what a call starts, and what a call completes.
#pragma once

#include <cstring>

#include "mpi/requests.h"
#include "mpi/roles/envelope.h"
#include "recorder/process.h"
#include "recorder/system.h"

namespace tare::mpi {

// Bytes that a status says were received.
template <class A>
std::uint64_t received_bytes(const typename A::Status& status) noexcept {
  if constexpr (A::has_byte_count) {
    return static_cast<std::uint64_t>(A::byte_count(status));
  } else {
    using Query = int(const typename A::Status*, typename A::Datatype, typename A::Count*);
    typename A::Count count = 0;
    library<Query>(Function::MPI_Get_elements_x)(&status, A::datatype_byte(), &count);
    return count < 0 ? 0 : static_cast<std::uint64_t>(count);
  }
}

template <class A>
bool was_cancelled(const typename A::Status& status) noexcept {
  if constexpr (A::has_cancelled) {
    return A::cancelled(status);
  } else {
    int cancelled = 0;
    library<int(const typename A::Status*, int*)>(Function::MPI_Test_cancelled)(&status, &cancelled);
    return cancelled != 0;
  }
}

// A blocking receive: what came is in its status, which the program may not have asked for.
template <class A>
struct Receives : Role {
  using Status = typename A::Status;
  Status* asked;
  Status own;
  explicit Receives(void* status) noexcept : asked(static_cast<Status*>(status)) {}

  auto* status() noexcept { return asked == A::status_ignore() ? &own : asked; }
  void after(Thread&, recorder::Call& call, int result) noexcept {
    if (result != A::success) [[unlikely]]
      return;
    const Status& s = *status();
    call.peer = Peer<A>::normal(A::source(s));
    call.tag = Tag<A>::normal(A::tag(s));
    call.bytes = received_bytes<A>(s);
  }
};

// A probe: tells of a message, moves none.
template <class A>
struct Probes : Receives<A> {
  const int* flag;
  Probes(const int* f, void* status) noexcept : Receives<A>(status), flag(f) {}

  void after(Thread&, recorder::Call& call, int result) noexcept {
    if (result != A::success || (flag != nullptr && *flag == 0)) return;
    call.peer = Peer<A>::normal(A::source(*this->status()));
    call.tag = Tag<A>::normal(A::tag(*this->status()));
  }
};

[[gnu::cold]] inline void count_untracked() noexcept {
  if (auto* segment = recorder::segment())
    std::atomic_ref(segment->process.untracked_requests).fetch_add(1, std::memory_order_relaxed);
}

// A call that creates a request.
template <class A, bool is_receive, bool is_persistent>
struct Starts : Role {
  const typename A::Request* request;
  std::uint64_t bytes = 0;
  explicit Starts(const typename A::Request* r) noexcept : request(r) {}

  void after(Thread&, recorder::Call& call, int result) noexcept {
    if (result != A::success || *request == A::request_null()) [[unlikely]]
      return;
    call.request = fold(bits(*request));
    if constexpr (is_persistent) {  // moves nothing yet
      bytes = call.bytes == format::no_bytes ? 0 : call.bytes;
      call.bytes = format::no_bytes;
    }
  }
  void committed(Thread&, const recorder::Call& call, const format::ProfileRow& row, int) noexcept {
    if constexpr (is_receive || is_persistent) {
      if (call.request == format::no_request) return;
      const Request entry{bits(*request), bytes, RowKey::of(row), 0, is_receive, is_persistent, !is_persistent};
      if (!requests.put(entry)) count_untracked();
    }
  }
};

// MPI_Start, MPI_Startall.
template <class A>
struct StartsPersistent : Role {
  int count;
  typename A::Request* handles;
  StartsPersistent(int n, typename A::Request* h) noexcept : count(n), handles(h) {}

  void after(Thread&, recorder::Call& call, int result) noexcept {
    if (result != A::success) return;
    if (count == 1) call.request = fold(bits(handles[0]));
    for (int i = 0; i < count; ++i) {
      const Request entry = requests.find(bits(handles[i]));
      if (entry.handle == 0 || entry.receives) continue;
      call.bytes = entry.bytes + (call.bytes == format::no_bytes ? 0 : call.bytes);
    }
  }
  void committed(Thread&, const recorder::Call&, const format::ProfileRow& row, int result) noexcept {
    if (result != A::success) return;
    for (int i = 0; i < count; ++i) {
      Request entry = requests.find(bits(handles[i]));
      if (entry.handle == 0) continue;
      entry.row = RowKey::of(row);
      entry.active = true;
      requests.update(entry);
    }
  }
};

template <class A>
struct ForgetsRequest : Role {
  std::uint64_t handle;
  explicit ForgetsRequest(const typename A::Request* request) noexcept
      : handle(request == nullptr ? 0 : bits(*request)) {}
  void before(Thread&, recorder::Call&) noexcept { requests.remove(handle, requests.id_of(handle)); }
};

// Credits one completed request to the row of the call that started it, and notes it in the trace. `entry` is
// what the table holds, or held before the call, for the handle; its handle is 0 if there was nothing.
template <class A>
void complete(Thread& thread, std::uint64_t handle, Request entry, const typename A::Status* status) noexcept {
  ++thread.shared->summary.completions;
  if (entry.handle == 0) {
    thread.commit_completion(fold(handle), format::no_bytes, format::no_peer, format::no_tag);
    return;
  }
  std::uint64_t bytes = format::no_bytes;
  std::int32_t source = format::no_peer;
  std::int32_t tag = format::no_tag;
  if (entry.receives && entry.active && status != nullptr && !was_cancelled<A>(*status)) {
    bytes = received_bytes<A>(*status);
    source = Peer<A>::normal(A::source(*status));
    tag = Tag<A>::normal(A::tag(*status));
    format::ProfileRow& row =
        thread.row(entry.row.address, entry.row.function, entry.row.size_class, entry.row.communicator);
    row.bytes += bytes;
    ++row.completed;
  }
  if (entry.persistent) {
    entry.active = false;
    requests.update(entry);
  } else {
    requests.remove(handle, entry.id);
  }
  thread.commit_completion(fold(handle), bytes, source, tag);
}

// What the table holds for a handle that may complete. While threads share the table this is asked before the
// call: once MPI has completed a request, another thread may be given its handle, and put it into the table.
inline Request before_completion(std::uint64_t handle) noexcept {
  return requests.shared() && requests.count() != 0 ? requests.find(handle) : Request{};
}
inline Request at_completion(std::uint64_t handle, const Request& before) noexcept {
  return requests.shared() || requests.count() == 0 ? before : requests.find(handle);
}

// MPI_Wait, MPI_Test.
template <class A>
struct CompletesOne : Role {
  using Status = typename A::Status;
  const typename A::Request* request;
  const int* flag;
  Status* asked;
  Status own;
  std::uint64_t handle = 0;
  Request known{};
  CompletesOne(const typename A::Request* r, const int* f, void* s) noexcept
      : request(r), flag(f), asked(static_cast<Status*>(s)) {}

  Status* status() noexcept { return asked == A::status_ignore() ? &own : asked; }
  void before(Thread&, recorder::Call&) noexcept {
    if (request == nullptr || *request == A::request_null()) return;
    handle = bits(*request);
    known = before_completion(handle);
  }
  void committed(Thread& thread, const recorder::Call&, const format::ProfileRow&, int result) noexcept {
    if (handle == 0 || (flag != nullptr && result == A::success && *flag == 0)) return;
    if (result == A::success) [[likely]]
      complete<A>(thread, handle, at_completion(handle, known), status());
    else if (*request == A::request_null())
      complete<A>(thread, handle, at_completion(handle, known), nullptr);
  }
};

// The handles of an array of requests, saved before MPI overwrites them, and room for statuses that the
// program did not ask for. Lives in the thread's scratch memory.
template <class A>
class Snapshot {
 public:
  using Status = typename A::Status;

  void take(Thread& thread, int count, const typename A::Request* handles) noexcept {
    if (count <= 0 || handles == nullptr || (requests.count() == 0 && thread.capacity == 0)) return;
    const auto n = static_cast<std::size_t>(count);
    const bool shared = requests.shared();
    const std::size_t each = sizeof(std::uint64_t) + (shared ? sizeof(Request) : 0) + sizeof(Status);
    if (!reserve(thread, n * each)) return;
    handles_ = reinterpret_cast<std::uint64_t*>(thread.scratch);
    auto* behind = reinterpret_cast<char*>(handles_ + n);
    if (shared) {
      known_ = reinterpret_cast<Request*>(behind);
      behind += n * sizeof(Request);
    }
    statuses_ = reinterpret_cast<Status*>(behind);
    for (std::size_t i = 0; i < n; ++i) {
      handles_[i] = handles[i] == A::request_null() ? 0 : bits(handles[i]);
      if (shared) known_[i] = handles_[i] == 0 ? Request{} : before_completion(handles_[i]);
    }
  }
  explicit operator bool() const noexcept { return handles_ != nullptr; }
  Status* statuses() noexcept { return statuses_; }
  void complete_one(Thread& thread, int i, const Status* status) noexcept {
    if (handles_[i] == 0) return;
    complete<A>(thread, handles_[i], at_completion(handles_[i], known_ == nullptr ? Request{} : known_[i]), status);
  }

 private:
  static bool reserve(Thread& thread, std::size_t bytes) noexcept {
    if (thread.scratch_bytes >= bytes) [[likely]]
      return true;
    const recorder::ErrnoGuard guard;
    const std::size_t larger = (2 * bytes + 0xffff) / 0x10000 * 0x10000;
    void* memory = recorder::map_memory(larger);
    if (memory == nullptr) return false;
    if (thread.scratch != nullptr) recorder::unmap_memory(thread.scratch, thread.scratch_bytes);
    thread.scratch = static_cast<char*>(memory);
    thread.scratch_bytes = larger;
    return true;
  }

  std::uint64_t* handles_ = nullptr;
  Status* statuses_ = nullptr;
  Request* known_ = nullptr;
};

// MPI_Waitall, MPI_Testall.
template <class A>
struct CompletesAll : Role {
  using Status = typename A::Status;
  int count;
  const typename A::Request* handles;
  const int* flag;
  Status* asked;
  Snapshot<A> snapshot;
  CompletesAll(int n, const typename A::Request* h, const int* f, void* s) noexcept
      : count(n), handles(h), flag(f), asked(static_cast<Status*>(s)) {}

  Status* status() noexcept { return asked == A::statuses_ignore() && snapshot ? snapshot.statuses() : asked; }
  void before(Thread& thread, recorder::Call&) noexcept { snapshot.take(thread, count, handles); }
  void committed(Thread& thread, const recorder::Call&, const format::ProfileRow&, int result) noexcept {
    if (!snapshot || (flag != nullptr && result == A::success && *flag == 0)) return;
    const Status* statuses = status();
    for (int i = 0; i < count; ++i) {
      if (result == A::success) [[likely]]
        snapshot.complete_one(thread, i, &statuses[i]);
      else if (handles[i] == A::request_null())
        snapshot.complete_one(thread, i, nullptr);
    }
  }
};

// MPI_Waitany, MPI_Testany.
template <class A>
struct CompletesAny : Role {
  using Status = typename A::Status;
  int count;
  const typename A::Request* handles;
  const int* index;
  const int* flag;
  Status* asked;
  Status own;
  Snapshot<A> snapshot;
  CompletesAny(int n, const typename A::Request* h, const int* i, const int* f, void* s) noexcept
      : count(n), handles(h), index(i), flag(f), asked(static_cast<Status*>(s)) {}

  Status* status() noexcept { return asked == A::status_ignore() ? &own : asked; }
  void before(Thread& thread, recorder::Call&) noexcept { snapshot.take(thread, count, handles); }
  void committed(Thread& thread, const recorder::Call&, const format::ProfileRow&, int result) noexcept {
    if (!snapshot || result != A::success || (flag != nullptr && *flag == 0)) return;
    if (*index >= 0 && *index < count) snapshot.complete_one(thread, *index, status());
  }
};

// MPI_Waitsome, MPI_Testsome: statuses are in the order of the indices.
template <class A>
struct CompletesSome : Role {
  using Status = typename A::Status;
  int count;
  const typename A::Request* handles;
  const int* completed;
  const int* indices;
  Status* asked;
  Snapshot<A> snapshot;
  CompletesSome(int n, const typename A::Request* h, const int* c, const int* i, void* s) noexcept
      : count(n), handles(h), completed(c), indices(i), asked(static_cast<Status*>(s)) {}

  Status* status() noexcept { return asked == A::statuses_ignore() && snapshot ? snapshot.statuses() : asked; }
  void before(Thread& thread, recorder::Call&) noexcept { snapshot.take(thread, count, handles); }
  void committed(Thread& thread, const recorder::Call&, const format::ProfileRow&, int result) noexcept {
    if (!snapshot || (result != A::success && result != A::err_in_status)) return;
    const Status* statuses = status();
    for (int i = 0; i < *completed; ++i)  // MPI_UNDEFINED is negative
      if (indices[i] >= 0 && indices[i] < count) snapshot.complete_one(thread, indices[i], &statuses[i]);
  }
};

}  // namespace tare::mpi
