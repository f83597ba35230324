// Requests under way, from the call that starts one to the call that completes it: so that what a request has
// received, and the time waited for it, are credited to the row of the call that started it, and so that a reader
// of the segment sees what a rank waits for.
//
// The table lies in the segment (format::RequestTable) and is bounded; requests that do not fit are counted
// (ProcessRecord::untracked_requests), and miss both. Thread-safe; the lock is taken only where MPI may be called
// by several threads at a time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "format/segment.h"
#include "recorder/system.h"

namespace tare::mpi {

using Request = format::RequestEntry;

class Requests {
 public:
  // Number of requests in the table; a hint, for skipping work when there are none.
  std::uint32_t count() const noexcept { return table_ == nullptr ? 0 : table_->count.load(std::memory_order_relaxed); }

  // Adds a request, in place of an older one of the same handle; fill(Request&) sets what is known of it. False if
  // it does not fit. A send that finds a send of its handle stands beside it (RequestEntry::starts).
  template <class Fill>
  bool put(std::uint64_t handle, bool plain_send, Fill fill) noexcept {
    const Locked locked(*this);
    Request* entry = place(handle, plain_send);
    if (entry == nullptr) return false;
    fill(*entry);
    std::atomic_ref(entry->handle).store(handle, std::memory_order_release);  // a reader believes it from here on
    return true;
  }

  // The request of a handle, where one thread at a time calls MPI; nullptr if there is none.
  Request* of(std::uint64_t handle) noexcept { return count() == 0 ? nullptr : of_some(handle); }
  // The same where count() is not 0.
  Request* of_some(std::uint64_t handle) noexcept {
    const std::uint16_t number = table_->index[slot_of(handle)];
    return number == 0 ? nullptr : &table_->entries[number];
  }

  // A copy of the request of a handle; its handle is 0 if there is none.
  Request find(std::uint64_t handle) noexcept {
    const Locked locked(*this);
    const Request* entry = of(handle);
    return entry == nullptr ? Request{} : *entry;
  }

  // What RequestEntry::message is of the request of a handle; 0 if there is none.
  std::uint32_t message_of(std::uint64_t handle) noexcept {
    const Locked locked(*this);
    const Request* entry = of(handle);
    return entry == nullptr ? 0 : entry->message;
  }

  // Changes the request of a handle, if there is one.
  template <class Change>
  void change(std::uint64_t handle, Change apply) noexcept {
    const Locked locked(*this);
    if (Request* entry = of(handle)) apply(*entry);
  }

  // each(Request&) of all requests.
  template <class Each>
  void for_each(Each each) noexcept {
    const Locked locked(*this);
    const std::uint32_t used = table_ == nullptr ? 0 : table_->used.load(std::memory_order_relaxed);
    for (std::uint32_t number = 1; number <= used; ++number)
      if (table_->entries[number].handle != 0) each(table_->entries[number]);
  }

  // Nobody waits any more for a request (RequestEntry::waiter); as for finish().
  void stop_waiting(const Request& request) noexcept {
    const Locked locked(*this);
    if (Request* entry = entry_of(request)) entry->waiter = 0;
  }

  // What a persistent collective takes out beside its bytes, every time that it is started; format::no_bytes if nothing
  // is. Of an entry, as fill and change get it.
  std::uint64_t& received(const Request& entry) noexcept { return received_[&entry - table_->entries]; }

  // A request has completed: a persistent one stays. `request` is an entry, or a copy that was made before the
  // call, after which the handle may be another request's.
  [[gnu::always_inline]] void finish(const Request& request) noexcept {
    if (shared_) [[unlikely]]
      return finish_shared(request);
    end(const_cast<Request&>(request));
  }

  // Removes the request of a handle that the program gives up.
  void forget(std::uint64_t handle) noexcept;

  // From here on more than one thread uses the table.
  void share() noexcept { shared_ = true; }
  bool shared() const noexcept { return shared_; }

  // The child has no requests, and a segment of its own once it calls MPI.
  void after_fork() noexcept;

 private:
  class Locked {
   public:
    explicit Locked(Requests& requests) noexcept : lock_(requests.shared_ ? &requests.lock_ : nullptr) {
      if (lock_ != nullptr) [[unlikely]]
        lock_->lock();
    }
    ~Locked() {
      if (lock_ != nullptr) [[unlikely]]
        lock_->unlock();
    }
    Locked(const Locked&) = delete;
    Locked& operator=(const Locked&) = delete;

   private:
    recorder::SpinLock* lock_;
  };

  static unsigned home_of(std::uint64_t handle) noexcept {
    static_assert(format::request_slots == 1U << (64 - 49));
    return static_cast<unsigned>(handle * 0x9e3779b97f4a7c15U >> 49);
  }
  // Slot of the handle in the index, or the empty one where it would go.
  unsigned slot_of(std::uint64_t handle) const noexcept {
    unsigned slot = home_of(handle);
    for (;; slot = (slot + 1) % format::request_slots) {
      const std::uint16_t number = table_->index[slot];
      if (number == 0 || table_->entries[number].handle == handle) return slot;
    }
  }
  // The entry that `request` is, or is a copy of; nullptr if it is not there any more.
  Request* entry_of(const Request& request) noexcept {
    if (!shared_) return const_cast<Request*>(&request);
    Request* entry = of(request.handle);
    return entry != nullptr && entry->id == request.id ? entry : nullptr;
  }
  Request* place(std::uint64_t handle, bool plain_send) noexcept;
  [[gnu::cold, gnu::noinline]] Request* place_first(std::uint64_t handle, bool plain_send) noexcept;
  // Linear probing; deleting moves later slots up, so there are no tombstones.
  [[gnu::always_inline]] void erase(Request& entry) noexcept {
    format::RequestTable& table = *table_;
    const auto number = static_cast<std::uint32_t>(&entry - table.entries);
    unsigned hole = home_of(entry.handle);
    while (table.index[hole] != number) hole = (hole + 1) % format::request_slots;
    if (table.index[(hole + 1) % format::request_slots] != 0) [[unlikely]]
      hole = move_up(hole);
    table.index[hole] = 0;
    std::atomic_ref(entry.handle).store(0, std::memory_order_release);
    entry.row = static_cast<std::uint16_t>(table.free);
    table.free = number;
    table.count.store(table.count.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
  }
  [[gnu::always_inline]] void end(Request& entry) noexcept {
    entry.waiter = 0;
    if (entry.persistent())
      entry.active = false;
    else if (--entry.starts == 0)
      erase(entry);
  }
  // Fills a hole with those behind it that it stands in the way of. Returns where the hole is then.
  unsigned move_up(unsigned hole) noexcept;
  [[gnu::cold]] void finish_shared(const Request& request) noexcept;

  format::RequestTable* table_ = nullptr;  // of this process, from its first request on
  bool shared_ = false;
  recorder::SpinLock lock_;
  std::uint64_t received_[format::request_capacity] = {};  // by entry
};

[[gnu::visibility("hidden")]] extern Requests requests;

}  // namespace tare::mpi
