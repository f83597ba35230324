// Roles of calls that complete requests.
#pragma once

#include <new>

#include "mpi/roles/request_array.h"

namespace tare::mpi {

// MPI_Wait, or MPI_Test, which does not wait.
template <class A, bool samples, bool waits>
struct CompletesOne : Role {
  using Status = typename A::Status;
  const typename A::Request* request;
  const int* flag;
  Status* asked;
  Status own;
  std::uint64_t handle;  // may be the null request; 0: there is none. This and the next are set by before()
  const Request* known;
  RequestCopy copy;
  CompletesOne(const typename A::Request* r, const int* f, void* s) noexcept
      : request(r), flag(f), asked(static_cast<Status*>(s)) {}

  static bool is_needed(const Thread& thread) noexcept { return thread.requests_open; }
  Status* status() noexcept { return asked == A::status_ignore() ? &own : asked; }
  [[gnu::always_inline]] void before(Thread& thread, recorder::Call&) noexcept {
    handle = request == nullptr ? 0 : bits(*request);
    known = nullptr;
    if (looks_up_later(waits)) [[likely]]
      return;
    find(thread);
    if (waits && handle != 0) thread.shared().current.requests = 1;
  }
  void find(const Thread& thread) noexcept {
    if (handle == bits(A::request_null())) handle = 0;
    if (handle != 0) known = look_up(thread, handle, waits, &copy);
    if (!is_inactive(known)) return;
    handle = 0;
    recorder::spells.complete_unknown(thread);
  }
  [[gnu::always_inline]] void after(Thread&, recorder::Call&, int) noexcept {
    if constexpr (samples) sampling::sampler.fetch_record();
  }
  void committed(Thread& thread, const recorder::Call& call, format::ProfileRow&, int result) noexcept {
    if (!waits && result == A::success && *flag == 0) return;
    if (looks_up_later(waits)) find(thread);
    if (handle == 0 || handle == bits(A::request_null())) return;
    const std::uint32_t block = recording_block(thread);
    if (result == A::success) [[likely]]
      complete<A, samples>(thread, block, handle, known, status(), waited(call));
    else if (*request == A::request_null())
      complete_after_error<A, samples>(thread, handle, known, status(), result, waited(call));
    else if (known != nullptr)
      requests.stop_waiting(*known);
  }
};

// MPI_Testall, and the unusual cases of MPI_Waitall.
template <class A, bool samples>
struct CompletesAll : Role {
  using Status = typename A::Status;
  int count;
  const typename A::Request* handles;
  const int* flag;
  Status* asked;
  Snapshot<A, samples> snapshot;
  CompletesAll(int n, const typename A::Request* h, const int* f, void* s) noexcept
      : count(n), handles(h), flag(f), asked(static_cast<Status*>(s)) {}

  static bool is_needed(const Thread& thread) noexcept { return thread.requests_open; }
  Status* status() noexcept { return snapshot.statuses(asked); }
  void before(Thread& thread, recorder::Call&) noexcept { snapshot.take(thread, count, handles, flag == nullptr); }
  [[gnu::always_inline]] void after(Thread&, recorder::Call&, int) noexcept {
    if constexpr (samples) sampling::sampler.fetch_record();
  }
  void committed(Thread& thread, const recorder::Call& call, format::ProfileRow&, int result) noexcept {
    if (!snapshot) return;
    if (result != A::success) [[unlikely]]
      return failed(thread, result);
    if (flag != nullptr && *flag == 0) return;
    snapshot.find_all(thread, count);
    snapshot.complete_all(thread, count, snapshot.filled(asked), share(call, snapshot.present()));
  }

 private:
  [[gnu::noinline, gnu::cold]] void failed(Thread& thread, int result) noexcept {
    const Status* statuses = result == A::err_in_status ? snapshot.filled(asked) : nullptr;
    snapshot.find_all(thread, count);
    for (int i = 0; i < count; ++i)
      if (handles[i] == A::request_null()) {
        const Status* status = statuses == nullptr ? nullptr : &statuses[i];
        snapshot.complete_one(thread, i, status, 0, status == nullptr ? A::success : A::error(*status));
      }
    snapshot.stop_waiting(count);
  }
};

// MPI_Waitall.
template <class A, bool samples>
struct CompletesAllByWaiting : Role {
  using Status = typename A::Status;
  int count;
  const typename A::Request* handles;
  Status* asked;
  bool are_few = true;
  FewRequests<A, samples> few;
  union {
    CompletesAll<A, samples> others;  // if they are not few
  };
  CompletesAllByWaiting(int n, const typename A::Request* h, void* s) noexcept
      : count(n), handles(h), asked(static_cast<Status*>(s)) {}

  static bool is_needed(const Thread& thread) noexcept { return thread.requests_open; }
  Status* status() noexcept { return are_few ? few.statuses(asked) : others.status(); }
  [[gnu::always_inline]] void before(Thread& thread, recorder::Call& call) noexcept {
    if (recorder::seldom(!few.take(thread, count, handles))) take_others(thread, call);
  }
  [[gnu::always_inline]] void after(Thread&, recorder::Call&, int) noexcept {
    if constexpr (samples) sampling::sampler.fetch_record();
  }
  [[gnu::always_inline]] void committed(Thread& thread, const recorder::Call& call, format::ProfileRow& row,
                                        int result) noexcept {
    if (recorder::seldom(!are_few) || recorder::seldom(result != A::success))
      return complete_others(thread, call, row, result);
    const Status* statuses = few.statuses(asked);
    few.complete_all(thread, count, statuses == A::statuses_ignore() ? nullptr : statuses, share(call, few.present()));
  }

 private:
  [[gnu::noinline]] void take_others(Thread& thread, recorder::Call& call) noexcept {
    are_few = false;
    new (&others) CompletesAll<A, samples>{count, handles, nullptr, asked};
    others.before(thread, call);
  }
  [[gnu::noinline]] void complete_others(Thread& thread, const recorder::Call& call, format::ProfileRow& row,
                                         int result) noexcept {
    const Status* statuses = result == A::err_in_status ? few.statuses(asked) : A::statuses_ignore();
    if (are_few)
      few.complete_some(thread, count, handles, statuses == A::statuses_ignore() ? nullptr : statuses);
    else
      others.committed(thread, call, row, result);
  }
};

// MPI_Waitany, MPI_Testany.
template <class A, bool samples>
struct CompletesAny : Role {
  using Status = typename A::Status;
  int count;
  const typename A::Request* handles;
  const int* index;
  const int* flag;
  Status* asked;
  Status own;
  Snapshot<A, samples> snapshot;
  CompletesAny(int n, const typename A::Request* h, const int* i, const int* f, void* s) noexcept
      : count(n), handles(h), index(i), flag(f), asked(static_cast<Status*>(s)) {}

  static bool is_needed(const Thread& thread) noexcept { return thread.requests_open; }
  Status* status() noexcept { return asked == A::status_ignore() ? &own : asked; }
  void before(Thread& thread, recorder::Call&) noexcept { snapshot.take(thread, count, handles, flag == nullptr); }
  [[gnu::always_inline]] void after(Thread&, recorder::Call&, int) noexcept {
    if constexpr (samples) sampling::sampler.fetch_record();
  }
  void committed(Thread& thread, const recorder::Call& call, format::ProfileRow&, int result) noexcept {
    if (!snapshot) return;
    const bool failed = result != A::success;
    const bool has_index = (flag == nullptr || *flag != 0) && *index >= 0 && *index < count;
    if (has_index && (!failed || handles[*index] == A::request_null()))
      snapshot.complete_one(thread, *index, status(), waited(call), result);
    if (flag == nullptr) snapshot.stop_waiting(count);
  }
};

// MPI_Waitsome, MPI_Testsome. The statuses are in the order of the indices.
template <class A, bool samples>
struct CompletesSome : Role {
  using Status = typename A::Status;
  int count;
  const typename A::Request* handles;
  const int* completed;
  const int* indices;
  Status* asked;
  bool waits;
  Snapshot<A, samples> snapshot;
  CompletesSome(int n, const typename A::Request* h, const int* c, const int* i, void* s, bool w) noexcept
      : count(n), handles(h), completed(c), indices(i), asked(static_cast<Status*>(s)), waits(w) {}

  static bool is_needed(const Thread& thread) noexcept { return thread.requests_open; }
  Status* status() noexcept { return snapshot.statuses(asked); }
  void before(Thread& thread, recorder::Call&) noexcept { snapshot.take(thread, count, handles, waits); }
  [[gnu::always_inline]] void after(Thread&, recorder::Call&, int) noexcept {
    if constexpr (samples) sampling::sampler.fetch_record();
  }
  void committed(Thread& thread, const recorder::Call& call, format::ProfileRow&, int result) noexcept {
    if (!snapshot) return;
    const Status* statuses = snapshot.filled(asked);
    const int done = result == A::success || result == A::err_in_status ? *completed : 0;
    const std::uint64_t waited = done > 0 ? share(call, static_cast<std::uint32_t>(done)) : 0;
    for (int i = 0; i < done; ++i) {  // MPI_UNDEFINED is negative
      if (indices[i] < 0 || indices[i] >= count) continue;
      const Status* status = statuses == nullptr ? nullptr : &statuses[i];
      const int error = result == A::success || status == nullptr ? A::success : A::error(*status);
      snapshot.complete_one(thread, indices[i], status, waited, error);
    }
    if (waits) snapshot.stop_waiting(count);
  }
};

}  // namespace tare::mpi
