// What becomes of a request that a call completes: how it is looked up before the call, and credited after it.
#pragma once

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
  const format::CurrentCall& call = thread.shared().current;
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
      if (!simple && entry.exchanges()) {
        row->received += bytes;
      } else {
        row->bytes += bytes;
        thread.count_in_phase(bytes);
      }
      thread.peers().count_received(entry.communicator, source, bytes);
    }
  }
  if constexpr (samples)
    if (entry.message != 0 && !ends_unchosen(entry, source != format::no_peer))
      end_sampled<A>(thread, entry, status, bytes);
  if (records && thread.traced()) recorder::commit_completion(thread, fold(entry.handle), bytes, source, tag, kind);
}

// The row of the call that started a request; nullptr if this thread does not record. If another thread started it, the
// row of this thread with the same key.
inline format::ProfileRow* row_of(Thread& thread, const Request& request) noexcept {
  if (thread.mode == recorder::Mode::paused || request.unrecorded()) return nullptr;
  if (request.block == thread.block) return &thread.profile.rows[request.row];
  const format::ProfileRow* row = recorder::row_of(request.block, request.row);
  return row == nullptr ? nullptr : &thread.profile.row(row->site, row->function, row->size_class, row->communicator);
}

// The usual case: a simple request that this thread has started.
template <class A, bool samples>
[[gnu::always_inline]] inline void complete_simple(Thread& thread, const Request& entry,
                                                   const typename A::Status* status, std::uint64_t waited) noexcept {
  credit<A, samples, true>(thread, entry, &thread.profile.rows[entry.row], format::completion, status, waited);
  requests.finish_once(entry);
}

// The unusual cases: the thread does not record, another thread may have started the request, or other requests have
// its handle.
template <class A, bool samples>
[[gnu::noinline]] void complete_any(Thread& thread, std::uint64_t handle, const Request& found,
                                    const typename A::Status* status, std::uint64_t waited) noexcept {
  const std::uint32_t block = thread.block;
  Request entry;
  if (requests.claim(handle, found, block, entry)) {
    const format::RecordKind kind = entry.block == block ? format::completion : format::foreign_completion;
    credit<A, samples>(thread, entry, row_of(thread, entry), kind, status, waited);
  } else {
    recorder::spells.complete_unknown(thread);
    recorder::commit_completion(thread, fold(handle), format::no_bytes, format::no_peer, format::no_tag);
  }
}

// The block of a thread that records; for one that does not, a number that no request has.
inline std::uint32_t recording_block(const Thread& thread) noexcept {
  static_assert(Starter::no_block == UINT32_MAX);
  return thread.mode == recorder::Mode::paused ? Starter::no_block - 1 : thread.block;
}

// A request of `handle` has completed. `found`: the entry of the handle before the call, or nullptr. `block`:
// recording_block().
template <class A, bool samples>
[[gnu::noinline]] void complete(Thread& thread, std::uint32_t block, std::uint64_t handle, const Request* found,
                                const typename A::Status* status, std::uint64_t waited) noexcept {
  ++thread.shared().summary.completions;
  if (found == nullptr) [[unlikely]] {
    recorder::spells.complete_unknown(thread);
    recorder::commit_completion(thread, fold(handle), format::no_bytes, format::no_peer, format::no_tag);
    return;
  }
  // Of the requests of one handle, the newest was found, which may have been completed by now. (A copy keeps its
  // handle.)
  const Request* entry = found->handle == handle ? found : requests.of(handle);
  if (entry != nullptr && requests.is_as_found(*entry, handle, block)) [[likely]] {
    credit<A, samples>(thread, *entry, &thread.profile.rows[entry->row], format::completion, status, waited);
    requests.finish(*entry);
  } else {
    complete_any<A, samples>(thread, handle, *found, status, waited);
  }
}

// The same of a request whose call returned an error; `error`: that of the request itself. A receive of a message that
// was too long has taken it, and its status may name it.
template <class A, bool samples>
[[gnu::noinline, gnu::cold]] void complete_after_error(Thread& thread, std::uint64_t handle, const Request* found,
                                                       const typename A::Status* status, int error,
                                                       std::uint64_t waited) noexcept {
  const std::uint32_t block = recording_block(thread);
  if (error == A::success) return complete<A, samples>(thread, block, handle, found, status, waited);
  const Request* entry = found == nullptr || found->handle == handle ? found : requests.of(handle);
  const bool is_taken = status != nullptr && entry != nullptr && entry->receives() && was_truncated<A>(error);
  if (!is_taken || !requests.is_as_found(*entry, handle, block))
    return complete<A, samples>(thread, block, handle, found, nullptr, waited);
  ++thread.shared().summary.completions;
  thread.profile.rows[entry->row].waited_ticks += waited;
  if constexpr (samples)
    if (entry->message != 0) end_sampled<A>(thread, *entry, nullptr, format::no_bytes);
  std::int32_t source = entry->peer, tag = entry->tag;
  set_envelope_of_truncated<A>(*status, source, tag);
  if (thread.traced())
    recorder::commit_completion(thread, fold(handle), format::no_bytes, source, tag, format::completion);
  requests.finish(*entry);
}
// `status`: of a call that returned err_in_status; nullptr: of another error, which does not say of which request it
// is.
template <class A, bool samples>
[[gnu::cold]] void complete_after_error(Thread& thread, std::uint64_t handle, const Request* found,
                                        const typename A::Status* status) noexcept {
  complete_after_error<A, samples>(thread, handle, found, status, status == nullptr ? A::success : A::error(*status),
                                   0);
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
  const std::uint32_t block = thread.block;
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
  if (requests <= 1) [[likely]]
    return ticks;
  if (requests == 2) return ticks / 2;  // the most frequent number for which a division would be slow
  return ticks / requests;
}

}  // namespace tare::mpi
