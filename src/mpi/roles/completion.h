// Roles of calls that complete requests.
#pragma once

#include <cstring>
#include <new>
#include <utility>

#include "mpi/roles/request.h"
#include "recorder/spells.h"

namespace tare::mpi {

template <class A>
sampling::Pattern pattern_of(int source, int tag) noexcept {
  return {Peer<A>::normal(source), Tag<A>::normal(tag)};
}

template <class A>
sampling::Pattern pattern_of(const typename A::Status& status) noexcept {
  return pattern_of<A>(A::source(status), A::tag(status));
}

// The sampler's word for a receive that was numbered when it was posted, which most steps do not concern; else 0.
inline std::uint32_t kept(const Request& entry, std::uint32_t receive) noexcept {
  if ((receive & sampling::numbered_bit) == 0) return receive;
  return sampling::sampler.keep_posted(receive, entry.started, entry.site);
}

// The end of a sampled receive. Its times are those of the call that has just returned. `bytes`: of the message if it
// has arrived, else format::no_bytes.
template <class A>
[[gnu::noinline]] void end_sampled(const Thread& thread, const Request& entry, const typename A::Status* status,
                                   std::uint64_t bytes) noexcept {
  using sampling::sampler;
  if (!sampler.active()) return;
  std::uint32_t receive = entry.message;
  if ((receive & sampling::persistent_bit) != 0) {
    sampling::Persistent& persistent = sampling::persistents[entry.message];
    if (!persistent.receives || !entry.active) return;
    receive = persistent.receive;
    persistent.receive = 0;
  }
  const format::CurrentCall& call = thread.shared->current;
  if ((receive & sampling::numbered_bit) != 0 && bytes != format::no_bytes) [[likely]] {
    sampler.complete_posted(receive, {entry.started, call.enter, call.leave}, bytes, entry.site);
    return sampler.poll();
  }
  const bool failed = status == nullptr;
  // Its status does not say what it took (Starts::is_silent), only that it took something. Its pattern may say it.
  if (!failed && entry.exchanges() && !entry.receives()) {
    if (!sampler.is_matched(receive)) return sampler.drop(receive);
    sampler.complete(receive, call.enter, call.leave, format::no_bytes);
    return sampler.poll();
  }
  const bool cancelled = !failed && was_cancelled<A>(*status);
  if (failed) return sampler.drop(kept(entry, receive));
  if (cancelled) return sampler.cancel(kept(entry, receive));
  if (!sampler.match(receive, pattern_of<A>(*status))) return;
  sampler.complete(receive, call.enter, call.leave, received_bytes<A>(*status));
  sampler.poll();
}

// Whether nothing is left to do for a completed request: if it has `received` a message, that is known not to be
// chosen.
[[gnu::always_inline]] inline bool ends_unchosen(const Request& entry, bool received) noexcept {
  std::uint32_t receive = entry.message;
  std::uint32_t* persistent = nullptr;
  if ((receive & sampling::persistent_bit) != 0) [[unlikely]] {
    if (!entry.receives()) return true;
    persistent = &sampling::persistents[receive].receive;
    receive = *persistent;
  }
  if ((receive & sampling::numbered_bit) == 0 || !received || !sampling::sampler.pass_posted(receive)) return false;
  if (persistent != nullptr) *persistent = 0;
  return true;
}

// Adds a completed request to `row`, that of the call that started it, and to the trace. A thread that does not record
// adds nothing. `waited` is its share of the time that the call took: the requests that a call completes share it
// evenly. `samples`: messages are sampled. `simple`: the request is (RequestEntry::simple), and the thread records.
template <class A, bool samples, bool simple = false>
[[gnu::always_inline]] inline void credit(Thread& thread, const Request& entry, format::ProfileRow* row,
                                          format::RecordKind kind, const typename A::Status* status,
                                          std::uint64_t waited) noexcept {
  std::uint64_t bytes = format::no_bytes;
  std::int32_t source = format::no_peer;
  std::int32_t tag = format::no_tag;
  const bool records = simple || row != nullptr;
  if (records) row->waited_ticks += waited;
  if (entry.receives() && (simple || entry.active) && status != nullptr && !was_cancelled<A>(*status)) {
    bytes = received_bytes<A>(*status);
    source = Peer<A>::normal(A::source(*status));
    tag = Tag<A>::normal(A::tag(*status));
    if (records) {
      (!simple && entry.exchanges() ? row->received : row->bytes) += bytes;
      thread.count_in_phase(bytes);
      thread.count_received(entry.communicator, source, bytes);
    }
  }
  if constexpr (samples)
    if (entry.message != 0 && !ends_unchosen(entry, source != format::no_peer))
      end_sampled<A>(thread, entry, status, bytes);
  if (records && thread.traced()) thread.commit_completion(fold(entry.handle), bytes, source, tag, kind);
}

// The row of the call that started a request; nullptr if this thread does not record. If another thread started it, the
// row of this thread with the same key.
inline format::ProfileRow* row_of(Thread& thread, const Request& request) noexcept {
  if (thread.mode == recorder::Mode::paused || request.unrecorded()) return nullptr;
  if (request.block == thread.shared->block) return &thread.rows[request.row];
  const format::ProfileRow* row = recorder::row_of(request.block, request.row);
  return row == nullptr ? nullptr : &thread.row(row->site, row->function, row->size_class, row->communicator);
}

// The usual case: a simple request that this thread has started.
template <class A, bool samples>
[[gnu::always_inline]] inline void complete_simple(Thread& thread, const Request& entry,
                                                   const typename A::Status* status, std::uint64_t waited) noexcept {
  credit<A, samples, true>(thread, entry, &thread.rows[entry.row], format::completion, status, waited);
  requests.finish_once(entry);
}

// The unusual cases: the thread does not record, another thread may have started the request, or other requests have
// its handle.
template <class A, bool samples>
[[gnu::noinline]] void complete_any(Thread& thread, std::uint64_t handle, const Request& found,
                                    const typename A::Status* status, std::uint64_t waited) noexcept {
  const std::uint32_t block = thread.shared->block;
  Request entry;
  if (requests.claim(handle, found, block, entry)) {
    const format::RecordKind kind = entry.block == block ? format::completion : format::foreign_completion;
    credit<A, samples>(thread, entry, row_of(thread, entry), kind, status, waited);
  } else {
    recorder::spells.complete_unknown(thread);
    if (thread.traced()) thread.commit_completion(fold(handle), format::no_bytes, format::no_peer, format::no_tag);
  }
}

// The block of a thread that records; for one that does not, a number that no request has.
inline std::uint32_t recording_block(const Thread& thread) noexcept {
  static_assert(Starter::no_block == UINT32_MAX);
  return thread.mode == recorder::Mode::paused ? Starter::no_block - 1 : thread.shared->block;
}

// A request of `handle` has completed. `found`: the entry of the handle before the call, or nullptr. `block`:
// recording_block().
template <class A, bool samples>
[[gnu::noinline]] void complete(Thread& thread, std::uint32_t block, std::uint64_t handle, const Request* found,
                                const typename A::Status* status, std::uint64_t waited) noexcept {
  ++thread.shared->summary.completions;
  if (found == nullptr) [[unlikely]] {
    recorder::spells.complete_unknown(thread);
    if (thread.traced()) thread.commit_completion(fold(handle), format::no_bytes, format::no_peer, format::no_tag);
    return;
  }
  // Of the requests of one handle, the newest was found, which may have been completed by now. (A copy keeps its
  // handle.)
  const Request* entry = found->handle == handle ? found : requests.of(handle);
  if (entry != nullptr && requests.is_as_found(*entry, handle, block)) [[likely]] {
    credit<A, samples>(thread, *entry, &thread.rows[entry->row], format::completion, status, waited);
    requests.finish(*entry);
  } else {
    complete_any<A, samples>(thread, handle, *found, status, waited);
  }
}

// The requests that a call may complete are looked up before the call. While threads share the table, the result is a
// copy: when MPI has completed the request, another thread may get its handle and put a request with it into the table.
// If one thread uses the table, that cannot happen. Then a call that does not wait looks up only what it has completed,
// because most polls find nothing.
inline bool looks_up_later(bool waits) noexcept { return !waits && !requests.shared(); }

// A persistent request that was not started counts as complete for MPI, but the call has not completed it. Or a call
// that was only counted has started it, and the call has completed it.
inline bool is_inactive(const Request* entry) noexcept { return entry != nullptr && !entry->active; }

// Looks a request up and, if `waits`, notes that this thread waits for it. `copy` has room for one; nullptr if one
// thread used the table when the call began.
[[gnu::noinline, gnu::cold]] inline const Request* look_up_shared(std::uint64_t handle, bool waits, std::uint32_t block,
                                                                  RequestCopy* copy) noexcept {
  return requests.copy(handle, block, waits ? block + 1 : 0, *copy) ? copy : nullptr;
}
[[gnu::always_inline]] inline const Request* look_up(const Thread& thread, std::uint64_t handle, bool waits,
                                                     RequestCopy* copy) noexcept {
  const std::uint32_t block = thread.shared->block;
  if (requests.shared() && copy != nullptr) [[unlikely]]
    return look_up_shared(handle, waits, block, copy);
  Request* entry = requests.of(handle);
  if (waits && entry != nullptr && entry->active) entry->waiter = block + 1;
  return entry;
}

// The time of a call, and of the untimed calls before it that it represents.
inline std::uint64_t waited(const recorder::Call& call) noexcept { return (call.leave - call.enter) * call.stands_for; }

// The part of that time for each of the requests that the call completed.
inline std::uint64_t share(const recorder::Call& call, std::uint32_t requests) noexcept {
  const std::uint64_t ticks = waited(call);
  if (requests == 2) return ticks / 2;  // the most frequent number for which a division would be slow
  return requests <= 1 ? ticks : ticks / requests;
}

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
    if (waits && handle != 0) thread.shared->current.requests = 1;
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
      complete<A, samples>(thread, block, handle, known, nullptr, waited(call));
    else if (known != nullptr)
      requests.stop_waiting(*known);
  }
};

// The requests of an array as they were before the call, in which MPI overwrites their handles; and room for statuses
// that the program did not ask for. Some fit in here; for more, the thread's scratch memory is used.
template <class A, bool samples>
class Snapshot {
 public:
  using Handle = typename A::Request;
  using Status = typename A::Status;

  [[gnu::always_inline]] void take(Thread& thread, int count, const Handle* handles, bool waits) noexcept {
    const bool any = requests.count() != 0;
    if (count <= 0 || handles == nullptr || (!any && !thread.traced())) return;
    later_ = receives_ = looks_up_later(waits);
    if (count > few || !later_) return take_all(thread, count, handles, waits);
    handles_ = few_handles_;
    statuses_ = few_statuses_;
    for (int i = 0; i < count; ++i) few_handles_[i] = handles[i];
  }
  // The call has completed all of its requests.
  [[gnu::always_inline]] void find_all(const Thread& thread, int count) noexcept {
    if (later_) find_later(thread, count);
  }
  explicit operator bool() const noexcept { return handles_ != nullptr; }
  // Where MPI puts the statuses, if the program asked for none, some are needed, and there is room for all.
  Status* statuses(Status* asked) noexcept {
    return asked != A::statuses_ignore() || !receives_ || statuses_ == nullptr ? asked : statuses_;
  }
  // The statuses that MPI has put there, or nullptr.
  const Status* filled(Status* asked) noexcept {
    const Status* at = statuses(asked);
    return at == A::statuses_ignore() ? nullptr : at;
  }
  std::uint32_t present() const noexcept { return present_; }
  [[gnu::noinline]] void complete_one(Thread& thread, int i, const Status* status, std::uint64_t waited) noexcept {
    const bool is_null = handles_[i] == A::request_null();
    if (is_null && inactive_) recorder::spells.complete_unknown(thread);
    if (is_null) return;
    const Request* entry;
    if (later_) {
      entry = look_up(thread, bits(handles_[i]), false, nullptr);
      if (is_inactive(entry)) return recorder::spells.complete_unknown(thread);
    } else {
      entry = std::exchange(entries_[i], nullptr);
    }
    complete<A, samples>(thread, recording_block(thread), bits(handles_[i]), entry, status, waited);
    handles_[i] = A::request_null();
  }
  // The call has completed all of them, and find_all() has found them all. Nothing is left to do for them.
  [[gnu::always_inline]] void complete_all(Thread& thread, int count, const Status* statuses,
                                           std::uint64_t waited) noexcept {
    if (inactive_) [[unlikely]]
      recorder::spells.complete_unknown(thread);
    const Handle null = A::request_null();
    const std::uint32_t block = recording_block(thread);
    for (int i = 0; i < count; ++i)
      if (handles_[i] != null)
        complete<A, samples>(thread, block, bits(handles_[i]), entries_[i],
                             statuses == nullptr ? nullptr : &statuses[i], waited);
  }
  // The thread does not wait any more for requests that were not completed.
  void stop_waiting(int count) noexcept {
    for (int i = 0; i < count; ++i)
      if (entries_[i] != nullptr) requests.stop_waiting(*entries_[i]);
  }

 private:
  static constexpr int few = 8;

  [[gnu::noinline]] void find_later(const Thread& thread, int count) noexcept {
    if (entries_ == nullptr) entries_ = few_entries_;  // handles_ are few then, too
    for (int i = 0; i < count; ++i) find(thread, i, false, nullptr);
    later_ = false;
  }
  [[gnu::noinline]] void take_all(Thread& thread, int count, const Handle* handles, bool waits) noexcept {
    const auto n = static_cast<std::size_t>(count);
    const std::size_t copied = requests.shared() ? sizeof(RequestCopy) : 0;
    RequestCopy* copies = nullptr;
    if (count <= few && copied == 0) {
      handles_ = few_handles_;
      entries_ = few_entries_;
      statuses_ = few_statuses_;
    } else {
      if (!reserve(thread, n * (copied + sizeof(Request*) + sizeof(Status) + sizeof(Handle))))
        return count_untracked(static_cast<std::uint32_t>(count));
      copies = reinterpret_cast<RequestCopy*>(thread.scratch);
      entries_ = reinterpret_cast<const Request**>(thread.scratch + n * copied);
      statuses_ = reinterpret_cast<Status*>(entries_ + n);
      handles_ = reinterpret_cast<Handle*>(statuses_ + n);
    }
    for (std::size_t i = 0; i < n; ++i) handles_[i] = handles[i];
    if (later_) return;
    for (int i = 0; i < count; ++i) find(thread, i, waits, copied == 0 ? nullptr : &copies[i]);
    if (waits) thread.shared->current.requests = present_;
  }
  [[gnu::always_inline]] void find(const Thread& thread, int i, bool waits, RequestCopy* copy) noexcept {
    entries_[i] = nullptr;
    if (handles_[i] == A::request_null()) return;
    const Request* entry = look_up(thread, bits(handles_[i]), waits, copy);
    if (is_inactive(entry)) {
      handles_[i] = A::request_null();
      inactive_ = true;
      return;
    }
    entries_[i] = entry;
    receives_ |= entry != nullptr && entry->receives();
    ++present_;
  }
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

  Handle* handles_ = nullptr;          // nullptr: nothing to look up. An element may be the null request
  const Request** entries_ = nullptr;  // nullptr: not in the table
  Status* statuses_ = nullptr;         // room for one for each request; nullptr: there is none
  std::uint32_t present_ = 0;
  bool receives_ = false;  // some are receives, or may be
  bool later_ = false;     // see looks_up_later()
  bool inactive_ = false;  // is_inactive() for some
  Handle few_handles_[few];
  const Request* few_entries_[few];
  Status few_statuses_[few];
};

// The usual case: a call waits for all of a few requests, all of them are in the table, and one thread uses it. The
// same as Snapshot, but values that are the same for all requests are read once.
template <class A, bool samples>
class FewRequests {
 public:
  using Handle = typename A::Request;
  using Status = typename A::Status;

  // False if this is another case.
  [[gnu::always_inline]] bool take(Thread& thread, int count, const Handle* handles) noexcept {
    if (static_cast<unsigned>(count) - 1 >= most || handles == nullptr || requests.shared() || requests.count() == 0)
      return false;
    const Handle null = A::request_null();
    const std::uint32_t waiter = thread.shared->block + 1;
    std::uint32_t present = 0;
    unsigned kinds = 0;
    for (int i = 0; i < count; ++i) {
      const Handle handle = handles[i];
      entries_[i] = nullptr;
      if (handle == null) continue;
      Request* entry = requests.of_some(bits(handle));
      if (entry == nullptr || !entry->active) [[unlikely]]
        return false;
      entry->waiter = waiter;
      kinds |= entry->kind;
      thread.expect_completion(entry->row);
      handles_[i] = handle;
      entries_[i] = entry;
      ++present;
    }
    receives_ = (kinds & format::receive_request) != 0;
    present_ = present;
    thread.shared->current.requests = present;
    return true;
  }
  Status* statuses(Status* asked) noexcept { return asked != A::statuses_ignore() || !receives_ ? asked : statuses_; }
  std::uint32_t present() const noexcept { return present_; }
  [[gnu::always_inline]] void complete_all(Thread& thread, int count, const Status* statuses,
                                           std::uint64_t waited) noexcept {
    const std::uint32_t block = recording_block(thread);
    std::uint64_t simple = 0;
    for (int i = 0; i < count; ++i) {
      const Request* entry = entries_[i];
      if (entry == nullptr) [[unlikely]]
        continue;
      const Status* status = statuses == nullptr ? nullptr : &statuses[i];
      if (entry->handle == bits(handles_[i]) && entry->block == block && entry->simple()) [[likely]] {
        complete_simple<A, samples>(thread, *entry, status, waited);
        ++simple;
      } else {
        complete<A, samples>(thread, block, bits(handles_[i]), entry, status, waited);
      }
    }
    thread.shared->summary.completions += simple;
  }
  // The call has failed. `now`: the handles that it has left.
  [[gnu::noinline, gnu::cold]] void complete_some(Thread& thread, int count, const Handle* now) noexcept {
    for (int i = 0; i < count; ++i)
      if (entries_[i] == nullptr)
        continue;
      else if (now[i] == A::request_null())
        complete<A, samples>(thread, recording_block(thread), bits(handles_[i]), entries_[i], nullptr, 0);
      else
        requests.stop_waiting(*entries_[i]);
  }

 private:
  static constexpr unsigned most = 64;  // a halo exchange with all neighbours in three dimensions has 52

  bool receives_ = false;  // some are receives
  std::uint32_t present_;  // take() sets this and the next two
  Handle handles_[most];
  const Request* entries_[most];  // nullptr: the null request
  Status statuses_[most];
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
      return failed(thread);
    if (flag != nullptr && *flag == 0) return;
    snapshot.find_all(thread, count);
    snapshot.complete_all(thread, count, snapshot.filled(asked), share(call, snapshot.present()));
  }

 private:
  [[gnu::noinline, gnu::cold]] void failed(Thread& thread) noexcept {
    snapshot.find_all(thread, count);
    for (int i = 0; i < count; ++i)
      if (handles[i] == A::request_null()) snapshot.complete_one(thread, i, nullptr, 0);
    snapshot.stop_waiting(count);
  }
};

// MPI_Waitall.
template <class A, bool samples>
struct WaitsForAll : Role {
  using Status = typename A::Status;
  int count;
  const typename A::Request* handles;
  Status* asked;
  bool are_few = true;
  FewRequests<A, samples> few;
  union {
    CompletesAll<A, samples> others;  // if they are not few
  };
  WaitsForAll(int n, const typename A::Request* h, void* s) noexcept
      : count(n), handles(h), asked(static_cast<Status*>(s)) {}

  static bool is_needed(const Thread& thread) noexcept { return thread.requests_open; }
  Status* status() noexcept { return are_few ? few.statuses(asked) : others.status(); }
  [[gnu::always_inline]] void before(Thread& thread, recorder::Call& call) noexcept {
    if (!few.take(thread, count, handles)) [[unlikely]]
      take_others(thread, call);
  }
  [[gnu::always_inline]] void after(Thread&, recorder::Call&, int) noexcept {
    if constexpr (samples) sampling::sampler.fetch_record();
  }
  [[gnu::always_inline]] void committed(Thread& thread, const recorder::Call& call, format::ProfileRow& row,
                                        int result) noexcept {
    if (!are_few || result != A::success) [[unlikely]]
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
    if (are_few)
      few.complete_some(thread, count, handles);
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
    if (result == A::success && (flag == nullptr || *flag != 0) && *index >= 0 && *index < count)
      snapshot.complete_one(thread, *index, status(), waited(call));
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
    for (int i = 0; i < done; ++i)  // MPI_UNDEFINED is negative
      if (indices[i] >= 0 && indices[i] < count)
        snapshot.complete_one(thread, indices[i], statuses == nullptr ? nullptr : &statuses[i], waited);
    if (waits) snapshot.stop_waiting(count);
  }
};

}  // namespace tare::mpi
