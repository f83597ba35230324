// The requests of an array that a call may complete, from before the call until they are credited.
#pragma once

#include <utility>

#include "mpi/roles/completed_request.h"

namespace tare::mpi {

// Where the statuses of a few requests lie.
template <class A>
typename A::Status* statuses_in(RequestRoom& room) noexcept {
  static_assert(sizeof(typename A::Status) <= RequestRoom::max_status_bytes);
  static_assert(alignof(typename A::Status) <= alignof(std::uint64_t));
  return reinterpret_cast<typename A::Status*>(room.statuses);
}

// The requests of an array as they were before the call, and room for statuses that the program did not ask for.
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
    found_ = thread.request_room.found;
    statuses_ = statuses_in<A>(thread.request_room);
    for (int i = 0; i < count; ++i) found_[i].handle = bits(handles[i]);
  }
  // The call has completed all of its requests.
  [[gnu::always_inline]] void find_all(const Thread& thread, int count) noexcept {
    if (later_) find_later(thread, count);
  }
  explicit operator bool() const noexcept { return found_ != nullptr; }
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
  // `error`: of the request; one that has failed may have a status.
  [[gnu::noinline]] void complete_one(Thread& thread, int i, const Status* status, std::uint64_t waited,
                                      int error = A::success) noexcept {
    FoundRequest& found = found_[i];
    const bool is_null = found.handle == null();
    if (is_null && inactive_) recorder::spells.complete_unknown(thread);
    if (is_null) return;
    const Request* entry;
    if (later_) {
      entry = look_up(thread, found.handle, false, nullptr);
      if (is_inactive(entry)) return recorder::spells.complete_unknown(thread);
    } else {
      entry = std::exchange(found.entry, nullptr);
    }
    if (error == A::success)
      complete<A, samples>(thread, recording_block(thread), found.handle, entry, status, waited);
    else
      complete_after_error<A, samples>(thread, found.handle, entry, status, error, waited);
    found.handle = null();
  }
  // The call has completed all of them, and find_all() has found them all. Nothing is left to do for them.
  [[gnu::always_inline]] void complete_all(Thread& thread, int count, const Status* statuses,
                                           std::uint64_t waited) noexcept {
    if (inactive_) [[unlikely]]
      recorder::spells.complete_unknown(thread);
    const std::uint32_t block = recording_block(thread);
    for (int i = 0; i < count; ++i)
      if (found_[i].handle != null())
        complete<A, samples>(thread, block, found_[i].handle, found_[i].entry,
                             statuses == nullptr ? nullptr : &statuses[i], waited);
  }
  // The thread does not wait any more for requests that were not completed.
  void stop_waiting(int count) noexcept {
    for (int i = 0; i < count; ++i)
      if (found_[i].entry != nullptr) requests.stop_waiting(*found_[i].entry);
  }

 private:
  static constexpr int few = RequestRoom::few;
  static std::uint64_t null() noexcept { return bits(A::request_null()); }

  [[gnu::noinline]] void find_later(const Thread& thread, int count) noexcept {
    for (int i = 0; i < count; ++i) find(thread, i, false, nullptr);
    later_ = false;
  }
  [[gnu::noinline]] void take_all(Thread& thread, int count, const Handle* handles, bool waits) noexcept {
    const auto n = static_cast<std::size_t>(count);
    const std::size_t copied = requests.shared() ? sizeof(RequestCopy) : 0;
    RequestCopy* copies = nullptr;
    if (count <= few && copied == 0) {
      found_ = thread.request_room.found;
      statuses_ = statuses_in<A>(thread.request_room);
    } else {
      if (!reserve(thread, n * (copied + sizeof(FoundRequest) + sizeof(Status))))
        return count_untracked(static_cast<std::uint32_t>(count));
      copies = reinterpret_cast<RequestCopy*>(thread.scratch);
      found_ = reinterpret_cast<FoundRequest*>(thread.scratch + n * copied);
      statuses_ = reinterpret_cast<Status*>(found_ + n);
    }
    for (std::size_t i = 0; i < n; ++i) found_[i].handle = bits(handles[i]);
    if (later_) return;
    for (int i = 0; i < count; ++i) find(thread, i, waits, copied == 0 ? nullptr : &copies[i]);
    if (waits) thread.shared().current.requests = present_;
  }
  [[gnu::always_inline]] void find(const Thread& thread, int i, bool waits, RequestCopy* copy) noexcept {
    FoundRequest& found = found_[i];
    found.entry = nullptr;
    if (found.handle == null()) return;
    const Request* entry = look_up(thread, found.handle, waits, copy);
    if (is_inactive(entry)) {
      found.handle = null();
      inactive_ = true;
      return;
    }
    found.entry = entry;
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

  FoundRequest* found_ = nullptr;  // nullptr: nothing to look up. A handle may be that of the null request
  Status* statuses_ = nullptr;     // room for one for each request; nullptr: there is none
  std::uint32_t present_ = 0;
  bool receives_ = false;  // some are receives, or may be
  bool later_ = false;     // see looks_up_later()
  bool inactive_ = false;  // is_inactive() for some
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
    using recorder::seldom;
    if (seldom(static_cast<unsigned>(count) - 1 >= RequestRoom::few) || seldom(handles == nullptr) ||
        seldom(requests.shared()) || seldom(requests.count() == 0))
      return false;
    const Handle null = A::request_null();
    const std::uint32_t waiter = thread.block + 1;
    std::uint32_t present = 0;
    unsigned kinds = 0;
    for (int i = 0; i < count; ++i) {
      const Handle handle = handles[i];
      FoundRequest& found = thread.request_room.found[i];
      found.entry = nullptr;
      if (handle == null) continue;
      Request* entry = requests.of_some(bits(handle));
      if (seldom(entry == nullptr) || seldom(!entry->active)) return false;
      entry->waiter = waiter;
      kinds |= entry->kind;
      thread.profile.expect_completion(entry->row);
      found.handle = bits(handle);
      found.entry = entry;
      ++present;
    }
    if ((kinds & format::receive_request) != 0) statuses_ = statuses_in<A>(thread.request_room);
    present_ = present;
    thread.shared().current.requests = present;
    return true;
  }
  Status* statuses(Status* asked) noexcept { return asked != A::statuses_ignore() ? asked : statuses_; }
  std::uint32_t present() const noexcept { return present_; }
  [[gnu::always_inline]] void complete_all(Thread& thread, int count, const Status* statuses,
                                           std::uint64_t waited) noexcept {
    const std::uint32_t block = recording_block(thread);
    std::uint64_t simple = 0;
    for (int i = 0; i < count; ++i) {
      const FoundRequest& found = thread.request_room.found[i];
      const Request* entry = found.entry;
      if (entry == nullptr) [[unlikely]]
        continue;
      const Status* status = statuses == nullptr ? nullptr : &statuses[i];
      if (entry->handle == found.handle && entry->block == block && entry->simple()) [[likely]] {
        complete_simple<A, samples>(thread, *entry, status, waited);
        ++simple;
      } else {
        complete<A, samples>(thread, block, found.handle, entry, status, waited);
      }
    }
    thread.shared().summary.completions += simple;
  }
  // The call has failed. `now`: the handles that it has left; `statuses`: those that tell of errors, or nullptr.
  [[gnu::noinline, gnu::cold]] void complete_some(Thread& thread, int count, const Handle* now,
                                                  const Status* statuses) noexcept {
    for (int i = 0; i < count; ++i) {
      const FoundRequest& found = thread.request_room.found[i];
      if (found.entry == nullptr)
        continue;
      else if (now[i] == A::request_null())
        complete_after_error<A, samples>(thread, found.handle, found.entry,
                                         statuses == nullptr ? nullptr : &statuses[i]);
      else
        requests.stop_waiting(*found.entry);
    }
  }

 private:
  // Where MPI puts the statuses that the program does not ask for, if some are of receives.
  Status* statuses_ = A::statuses_ignore();
  std::uint32_t present_ = 0;
};

}  // namespace tare::mpi
