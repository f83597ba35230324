#include "mpi/objects/requests.h"

#include "recorder/every_call.h"
#include "recorder/segment.h"

namespace tare::mpi {

// Aligned no more than needed, which compilers do otherwise: so it shares its cache line.
TARE_EVERY_CALL alignas(Requests) constinit Requests requests;

constinit recorder::SpinLock Requests::lock_;
constinit std::uint64_t Requests::received_[format::request_capacity] = {};
constinit std::uint16_t Requests::next_[format::request_capacity] = {};

Request* Requests::of_indexed(std::uint64_t handle) noexcept {
  const std::uint16_t number = table_->index[slot_of(handle)];
  return number == 0 ? nullptr : &table_->entries[number];
}

// A free entry behind the first; 0 if there is none.
std::uint16_t Requests::take() noexcept {
  format::RequestTable& table = *table_;
  std::uint32_t number = table.free;
  if (number != 0) {
    table.free = next_[number];
  } else {
    number = table.used.load(std::memory_order_relaxed) + 1;
    if (number >= format::request_capacity) return 0;
    table.used.store(number, std::memory_order_release);
  }
  ++others_;
  plain_ = nullptr;
  return static_cast<std::uint16_t>(number);
}

// Makes it free again.
void Requests::give_back(std::uint16_t number) noexcept {
  std::atomic_ref(table_->entries[number].handle).store(0, std::memory_order_release);
  if (--others_ == 0) plain_ = table_;
  next_[number] = static_cast<std::uint16_t>(table_->free);
  table_->free = number;
}

// Whether the entry of a request is also that of another one of the same handle, which starts now.
[[gnu::always_inline]] inline bool Requests::is_entry_of(Request& known, std::uint32_t block, std::uint16_t row,
                                                         std::uint8_t kind) noexcept {
  if (may_share(kind)) {
    if (known.row != row || known.block != block || known.kind != kind || known.starts == UINT16_MAX) return false;
    ++known.starts;
  } else {
    if (may_share(known.kind)) return false;
    known.starts = 1;  // the older one has ended
    known.id = ++last_id_;
  }
  return true;
}

// The first request of the process maps the table.
Request* Requests::place_any(std::uint64_t handle, std::uint32_t block, std::uint16_t row, std::uint8_t kind) noexcept {
  if (table_ == nullptr) {
    table_ = recorder::request_table();
    if (table_ == nullptr) return nullptr;
    table_->entries[0].handle = nobodys_handle;
    table_->used.store(direct_entries - 1, std::memory_order_release);
    plain_ = table_;
  }
  format::RequestTable& table = *table_;
  Request& direct = direct_of(table, handle);
  if (direct.handle == handle) {
    if (is_entry_of(direct, block, row, kind)) return &direct;
    return add_beside(direct, kind);
  }
  const unsigned slot = slot_of(handle);
  const std::uint16_t newest = table.index[slot];
  if (newest == 0 && direct.handle == 0) return &begin(direct);
  std::uint16_t before = 0;
  for (std::uint16_t number = newest; number != 0; before = number, number = next_[number]) {
    Request& known = table.entries[number];
    if (!is_entry_of(known, block, row, kind)) continue;
    if (before != 0) {
      next_[before] = next_[number];
      next_[number] = newest;
      table.index[slot] = number;
    }
    return &known;
  }
  const std::uint16_t number = take();
  if (number == 0) {
    if (may_share(kind)) disown(handle);
    return nullptr;
  }
  next_[number] = newest;
  table.index[slot] = number;
  return &begin(table.entries[number]);
}

// An entry for another request of the handle of `direct`. Both lie elsewhere then.
Request* Requests::add_beside(Request& direct, std::uint8_t kind) noexcept {
  const std::uint64_t handle = direct.handle;
  const std::uint16_t number = take();
  const std::uint16_t older = number == 0 ? 0 : move_away(number_of(direct));
  if (older == 0) {
    if (number != 0) give_back(number);
    if (may_share(kind)) disown(handle);
    return nullptr;
  }
  next_[number] = older;
  table_->index[slot_of(handle)] = number;
  return &begin(table_->entries[number]);
}

// Moves a request away from where its handle hashes to. Returns its new number; 0 if there is no room.
std::uint16_t Requests::move_away(std::uint16_t number) noexcept {
  Request& from = table_->entries[number];
  const std::uint16_t moved = take();
  if (moved == 0) return 0;
  Request& to = table_->entries[moved];
  const std::uint64_t handle = from.handle;
  // To readers it is nowhere meanwhile.
  std::atomic_ref(from.handle).store(0, std::memory_order_release);
  to = from;
  std::atomic_ref(to.handle).store(handle, std::memory_order_release);
  received_[moved] = received_[number];
  next_[moved] = 0;
  return moved;
}

// Which requests of a handle have completed cannot be known from here on, so they belong to no thread.
void Requests::disown(std::uint64_t handle) noexcept {
  for (std::uint16_t number = newest_of(handle); number != 0; number = next_[number]) {
    Request& each = table_->entries[number];
    if (!may_share(each.kind)) continue;
    each.block = Starter::no_block;
    each.kind |= format::unrecorded_request;
  }
}

// Linear probing in the index. Deleting moves later slots up, so there are no tombstones.
void Requests::erase_any(std::uint16_t number) noexcept {
  format::RequestTable& table = *table_;
  Request& entry = table.entries[number];
  if (number < direct_entries) return free(entry);
  const unsigned slot = slot_of(entry.handle);
  if (std::uint16_t before = table.index[slot]; before != number) {
    while (next_[before] != number) before = next_[before];
    next_[before] = next_[number];
  } else if (next_[number] != 0) {
    table.index[slot] = next_[number];
  } else {
    table.index[move_up(slot)] = 0;
  }
  change_count(-1U);
  give_back(number);
}

unsigned Requests::move_up(unsigned hole) noexcept {
  format::RequestTable& table = *table_;
  for (unsigned slot = (hole + 1) % format::request_slots; table.index[slot] != 0;
       slot = (slot + 1) % format::request_slots) {
    const unsigned home = home_of(table.entries[table.index[slot]].handle);
    const unsigned from_home = (slot - home) % format::request_slots;
    const unsigned from_hole = (slot - hole) % format::request_slots;
    if (from_home < from_hole) continue;  // it would lie before its first slot
    table.index[hole] = table.index[slot];
    hole = slot;
  }
  return hole;
}

// The first one that the thread has started, else the newest; nullptr if there is none.
Request* Requests::pick(std::uint64_t handle, std::uint32_t block) noexcept {
  Request* newest = of(handle);
  if (newest == nullptr || newest->block == block || newest->persistent()) return newest;
  Request* own = first(handle, [&](const Request& each) { return each.block == block && each.active; });
  return own == nullptr ? newest : own;
}

bool Requests::copy(std::uint64_t handle, std::uint32_t block, std::uint32_t waiter, RequestCopy& to) noexcept {
  const Locked locked(*this);
  Request* entry = pick(handle, block);
  if (entry == nullptr) return false;
  if (waiter != 0 && entry->active) entry->waiter = waiter;
  static_cast<Request&>(to) = *entry;
  to.newest = last_id_;
  return true;
}

bool Requests::claim(std::uint64_t handle, const Request& found, std::uint32_t block, Request& taken) noexcept {
  const Locked locked(*this);
  const bool is_copy = !is_entry(found);
  Request* entry = nullptr;
  if (is_copy) {
    entry = first(handle, [&](const Request& each) { return each.id == found.id; });
    if (entry == nullptr && !may_share(found.kind)) {
      taken = found;  // meanwhile another thread has put its next request with this handle in its place
      return true;
    }
  } else if (found.handle == handle && found.block == block) {
    entry = const_cast<Request*>(&found);
  }
  // The call cannot have completed requests that other threads started after it began.
  const auto is_there = [&](const Request& each) {
    const bool is_older = !is_copy || static_cast<std::int32_t>(static_cast<const RequestCopy&>(found).newest -
                                                                each.id) >= 0;  // ids wrap around
    return each.active && (each.block == block || is_older);
  };
  if (entry == nullptr)
    entry = first(handle, [&](const Request& each) { return each.block == block && is_there(each); });
  if (entry == nullptr) entry = first(handle, is_there);
  if (entry == nullptr) return false;
  taken = *entry;
  end(*entry);
  return true;
}

void Requests::free(std::uint64_t handle, std::uint32_t block) noexcept {
  const Locked locked(*this);
  Request* entry = pick(handle, block);
  if (entry != nullptr && (entry->persistent() || --entry->starts == 0)) erase(*entry);
}

void Requests::after_fork() noexcept {
  lock_.reset();
  table_ = plain_ = nullptr;
  others_ = 0;
  count_.store(0, std::memory_order_relaxed);
  last_id_ = 0;
}

}  // namespace tare::mpi
