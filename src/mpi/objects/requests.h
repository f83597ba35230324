// Requests under way, from the call that starts one to the call that completes it. The bytes that a request has
// received, and the time waited for it, are added to the row of the call that started it. A reader of the segment sees
// what a rank waits for.
//
// A handle does not identify a request. MPI gives requests that are complete at once a common handle (Open MPI's
// ompi_request_empty, MPICH's lightweight requests), and uses handles of completed requests again. So a handle has a
// list of entries, the newest first, one for each row that has started such requests. A completion removes one request
// from the list (claim), or none if the list is empty. Requests of threads that do not record are in the list, too,
// because they share the handle.
//
// A request lies where its handle hashes to, among the first entries of the table. Only if another handle has that
// entry, or if there are several requests of the handle, they lie behind these entries. Then an index has the number of
// the newest, and each has the number of the next older one.
//
// The table lies in the segment (format::RequestTable) and is bounded. Requests that do not fit are counted
// (ProcessRecord::untracked_requests); their bytes and waiting times are not known. Thread-safe. The lock is taken only
// if several threads may call MPI at the same time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "format/request_table.h"
#include "recorder/every_call.h"
#include "recorder/system.h"

namespace tare::mpi {

using Request = format::RequestEntry;

// The row of the call that has started a request, with flags of format::RequestKind.
struct Starter {
  std::uint32_t block;
  std::uint16_t row;
  std::uint8_t kind;

  // There is no row, because the thread does not record.
  static constexpr std::uint32_t no_block = UINT32_MAX;
};

// Whether MPI may give requests of this kind a common handle. It cannot if they have a status with content, or are
// persistent.
constexpr bool may_share(std::uint8_t kind) noexcept {
  return (kind & (format::receive_request | format::persistent_request)) == 0;
}

// A request as it was before the call that completes it. Needed where other threads may change the table meanwhile.
struct RequestCopy : Request {
  std::uint32_t newest;  // id of the newest request in the table then
};

class Requests {
 public:
  // The number of entries. A hint that avoids work when there are none.
  std::uint32_t count() const noexcept { return count_.load(std::memory_order_relaxed); }

  // Adds a request. fill(Request&) sets all values except `starter`. False if there is no room. If this request or the
  // others of its handle may have a common handle, it is added to them; else it replaces them.
  template <class Fill>
  [[gnu::always_inline]] bool put(std::uint64_t handle, Starter starter, Fill fill) noexcept {
    const Locked locked(*this);
    Request* entry = place(handle, starter.block, starter.row, starter.kind);
    if (entry == nullptr) return false;
    entry->block = starter.block;
    entry->row = starter.row;
    entry->kind = starter.kind;
    fill(*entry);
    std::atomic_ref(entry->handle).store(handle, std::memory_order_release);  // complete for readers
    return true;
  }

  // The newest request of a handle, if one thread at a time calls MPI; nullptr if there is none.
  Request* of(std::uint64_t handle) noexcept { return count() == 0 ? nullptr : of_some(handle); }
  // The same, if count() is not 0.
  [[gnu::always_inline]] Request* of_some(std::uint64_t handle) noexcept {
    Request& direct = direct_of(*table_, handle);
    if (direct.handle == handle) [[likely]]
      return &direct;
    return others_ == 0 ? nullptr : of_indexed(handle);
  }

  // A copy of the newest request of a handle. Its handle is 0 if there is none.
  Request find(std::uint64_t handle) noexcept {
    const Locked locked(*this);
    const Request* entry = of(handle);
    return entry == nullptr ? Request{} : *entry;
  }

  // RequestEntry::message of the newest request of a handle; 0 if there is none.
  std::uint32_t message_of(std::uint64_t handle) noexcept {
    const Locked locked(*this);
    const Request* entry = of(handle);
    return entry == nullptr ? 0 : entry->message;
  }

  // Changes the newest request of a handle, if there is one.
  template <class Change>
  void change(std::uint64_t handle, Change apply) noexcept {
    const Locked locked(*this);
    if (Request* entry = of(handle)) apply(*entry);
  }

  // Calls each(Request&) for all entries.
  template <class Each>
  void for_each(Each each) noexcept {
    const Locked locked(*this);
    std::uint32_t left = count();
    const std::uint32_t used = left == 0 ? 0 : table_->used.load(std::memory_order_relaxed);
    for (std::uint32_t number = 1; left != 0 && number <= used; ++number)
      if (table_->entries[number].handle != 0) {
        each(table_->entries[number]);
        --left;
      }
  }

  // Whether any request is under way.
  bool any_active() noexcept {
    bool any = false;
    for_each([&](const Request& each) { any = any || each.active; });
    return any;
  }

  // No thread waits for the request any more (RequestEntry::waiter). `request`: an entry, or a copy of one.
  void stop_waiting(const Request& request) noexcept {
    const Locked locked(*this);
    if (!shared_) {
      const_cast<Request&>(request).waiter = 0;
    } else if (Request* entry = first(request.handle, [&](const Request& each) { return each.id == request.id; })) {
      entry->waiter = 0;
    }
  }

  // The bytes that a persistent collective takes out, beside those that it puts in, each time that it is started;
  // format::no_bytes if there are none. `request`: an entry, as fill and change get it.
  std::uint64_t& received(const Request& entry) noexcept { return received_[&entry - table_->entries]; }

  // Copies the request that a thread of `block` must know before a call that may complete one of `handle`: one that its
  // own calls have started, else the newest. False if there is none. If `waiter` is not 0, the thread with number
  // `waiter` - 1 waits for it.
  bool copy(std::uint64_t handle, std::uint32_t block, std::uint32_t waiter, RequestCopy& to) noexcept;

  // Whether what was found before a call is certainly what the call has completed: the thread of `block` has started
  // the request, and one thread at a time calls MPI. If so, finish() must follow.
  [[gnu::always_inline]] bool is_as_found(const Request& found, std::uint64_t handle,
                                          std::uint32_t block) const noexcept {
    return found.handle == handle && found.block == block && !shared_;
  }
  // The claimed request has completed. A persistent one stays in the table.
  [[gnu::always_inline]] void finish(const Request& entry) noexcept { end(const_cast<Request&>(entry)); }
  // The same of one that is not persistent.
  [[gnu::always_inline]] void finish_once(const Request& entry) noexcept { end_start(const_cast<Request&>(entry)); }

  // Removes a request of `handle` that a call in a thread of `block` has completed, and copies it. That is the request
  // that was found before the call or, if another completion has taken that, one that was there as well. False if there
  // is none.
  bool claim(std::uint64_t handle, const Request& found, std::uint32_t block, Request& taken) noexcept;

  // Removes a request of a handle that the program frees, in a thread of `block`.
  void free(std::uint64_t handle, std::uint32_t block) noexcept;

  // From now on several threads may use the table.
  void share() noexcept { shared_ = true; }
  bool shared() const noexcept { return shared_; }

  // For a forked child, which has no requests, and gets a segment of its own when it calls MPI.
  void after_fork() noexcept;

 private:
  class Locked {
   public:
    explicit Locked(Requests& requests) noexcept : lock_(requests.shared_ ? &Requests::lock_ : nullptr) {
      if (recorder::seldom(lock_ != nullptr)) lock_->lock();
    }
    ~Locked() {
      if (recorder::seldom(lock_ != nullptr)) lock_->unlock();
    }
    Locked(const Locked&) = delete;
    Locked& operator=(const Locked&) = delete;

   private:
    recorder::SpinLock* lock_;
  };

  // The entries before this number are those of the handles that hash to them. Few, because for_each() looks at them.
  static constexpr std::uint32_t direct_entries = 512;
  // Entry 0 is no request's, but handle 0, which is none, hashes to it. So it has a handle that no request has.
  static constexpr std::uint64_t nobodys_handle = UINT64_MAX;

  static std::uint64_t hash_of(std::uint64_t handle) noexcept { return handle * 0x9e3779b97f4a7c15U; }
  static Request& direct_of(format::RequestTable& table, std::uint64_t handle) noexcept {
    static_assert(direct_entries == 1U << (64 - 55));
    return table.entries[hash_of(handle) >> 55];
  }
  static unsigned home_of(std::uint64_t handle) noexcept {
    static_assert(format::request_slots == 1U << (64 - 49));
    return static_cast<unsigned>(hash_of(handle) >> 49);
  }
  // The slot of the handle in the index, or the empty slot where it would be put.
  unsigned slot_of(std::uint64_t handle) const noexcept {
    unsigned slot = home_of(handle);
    for (;; slot = (slot + 1) % format::request_slots) {
      const std::uint16_t number = table_->index[slot];
      if (number == 0 || table_->entries[number].handle == handle) return slot;
    }
  }
  [[gnu::noinline]] Request* of_indexed(std::uint64_t handle) noexcept;
  std::uint16_t number_of(const Request& entry) const noexcept {
    return static_cast<std::uint16_t>(&entry - table_->entries);
  }
  // The number of the newest request of a handle; 0 if there is none.
  std::uint16_t newest_of(std::uint64_t handle) noexcept {
    const Request* newest = of(handle);
    return newest == nullptr ? 0 : number_of(*newest);
  }
  // The first of the requests of a handle, beginning with the newest, for which is(const Request&) holds; nullptr if
  // there is none.
  template <class Is>
  Request* first(std::uint64_t handle, Is is) noexcept {
    for (std::uint16_t number = newest_of(handle); number != 0; number = next_[number])
      if (is(table_->entries[number])) return &table_->entries[number];
    return nullptr;
  }
  bool is_entry(const Request& request) const noexcept {
    const auto at = reinterpret_cast<std::uintptr_t>(&request);
    const auto begin = reinterpret_cast<std::uintptr_t>(table_->entries);
    return at >= begin && at < begin + sizeof table_->entries;
  }
  void change_count(std::uint32_t by) noexcept {
    count_.store(count_.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }
  Request* pick(std::uint64_t handle, std::uint32_t block) noexcept;
  // The entry for a request. Single values are passed in registers.
  [[gnu::always_inline]] Request* place(std::uint64_t handle, std::uint32_t block, std::uint16_t row,
                                        std::uint8_t kind) noexcept {
    if (plain_ != nullptr) [[likely]] {
      Request& direct = direct_of(*plain_, handle);
      if (direct.handle == 0) [[likely]]
        return &begin(direct);
    }
    return place_any(handle, block, row, kind);
  }
  [[gnu::always_inline]] Request& begin(Request& entry) noexcept {
    change_count(1);
    entry.id = ++last_id_;
    entry.starts = 1;
    return entry;
  }
  [[gnu::noinline]] Request* place_any(std::uint64_t handle, std::uint32_t block, std::uint16_t row,
                                       std::uint8_t kind) noexcept;
  bool is_entry_of(Request& known, std::uint32_t block, std::uint16_t row, std::uint8_t kind) noexcept;
  Request* add_beside(Request& direct, std::uint8_t kind) noexcept;
  std::uint16_t move_away(std::uint16_t number) noexcept;
  void disown(std::uint64_t handle) noexcept;
  std::uint16_t take() noexcept;
  void give_back(std::uint16_t number) noexcept;

  [[gnu::always_inline]] void erase(Request& entry) noexcept {
    if (plain_ == nullptr) [[unlikely]]
      return erase_any(number_of(entry));
    free(entry);
  }
  [[gnu::always_inline]] void free(Request& entry) noexcept {
    std::atomic_ref(entry.handle).store(0, std::memory_order_release);
    change_count(-1U);
  }
  [[gnu::noinline]] void erase_any(std::uint16_t number) noexcept;
  [[gnu::always_inline]] void end(Request& entry) noexcept {
    if (!entry.persistent()) return end_start(entry);
    entry.waiter = 0;
    entry.active = false;
  }
  [[gnu::always_inline]] void end_start(Request& entry) noexcept {
    entry.waiter = 0;
    if (--entry.starts == 0) erase(entry);
  }
  // Fills a hole in the index with a later slot whose probe sequence crosses it, repeatedly. Returns where the hole is
  // at the end.
  unsigned move_up(unsigned hole) noexcept;

  format::RequestTable* table_ = nullptr;  // of this process, from its first request on
  // The same while all requests lie where their handles hash to, else nullptr.
  format::RequestTable* plain_ = nullptr;
  std::uint32_t others_ = 0;             // requests that lie elsewhere
  std::atomic<std::uint32_t> count_{0};  // requests in the table
  std::uint32_t last_id_ = 0;
  bool shared_ = false;
  // Beside the object, which then is so small that it lies with what every call reads.
  static recorder::SpinLock lock_;
  static std::uint64_t received_[format::request_capacity];  // by entry
  // By entry: the next older one of its handle; of a free entry behind the first, the next free one. 0: none, as for
  // all of the first entries.
  static std::uint16_t next_[format::request_capacity];
};

[[gnu::visibility("hidden")]] extern Requests requests;

}  // namespace tare::mpi
