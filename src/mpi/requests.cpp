#include "mpi/requests.h"

#include "recorder/segment.h"

namespace tare::mpi {

constinit Requests requests;

// The first request of the process maps the table.
Request* Requests::place_first(std::uint64_t handle, Starter starter) noexcept {
  table_ = recorder::request_table();
  return table_ == nullptr ? nullptr : place(handle, starter);
}

// Adds an entry in front of `next`; nullptr if the table is full.
[[gnu::always_inline]] inline Request* Requests::add(unsigned slot, std::uint16_t next) noexcept {
  format::RequestTable& table = *table_;
  std::uint32_t number = table.free;
  if (number != 0) {
    table.free = next_[number];
  } else {
    number = table.used.load(std::memory_order_relaxed) + 1;
    if (number >= format::request_capacity) return nullptr;
    table.used.store(number, std::memory_order_release);
  }
  table.index[slot] = static_cast<std::uint16_t>(number);
  next_[number] = next;
  table.count.store(table.count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  Request& entry = table.entries[number];
  entry.id = ++table.last_id;
  entry.starts = 1;
  return &entry;
}

// The entry for a request; its handle is 0 if it is new. Calls functions only as its last step, so it saves no
// registers.
Request* Requests::place(std::uint64_t handle, Starter starter) noexcept {
  if (table_ == nullptr) [[unlikely]]
    return place_first(handle, starter);
  const unsigned slot = slot_of(handle);
  if (table_->index[slot] != 0) return place_beside(slot, starter);
  return add(slot, 0);
}

// The same if the handle has requests already. The entry comes in front of them.
Request* Requests::place_beside(unsigned slot, Starter starter) noexcept {
  format::RequestTable& table = *table_;
  const std::uint16_t newest = table.index[slot];
  std::uint16_t before = 0;
  for (std::uint16_t number = newest; number != 0; before = number, number = next_[number]) {
    Request& known = table.entries[number];
    if (may_share(starter.kind)) {
      if (known.row != starter.row || known.block != starter.block || known.kind != starter.kind ||
          known.starts == UINT16_MAX)
        continue;
      ++known.starts;
    } else {
      if (may_share(known.kind)) continue;
      known.starts = 1;  // the older one has ended
      known.id = ++table.last_id;
    }
    if (before != 0) {
      next_[before] = next_[number];
      next_[number] = newest;
      table.index[slot] = number;
    }
    return &known;
  }
  Request* entry = add(slot, newest);
  // Which requests of the handle have completed cannot be known from here on, so they belong to no thread.
  if (entry == nullptr && may_share(starter.kind)) {
    for (std::uint16_t number = newest; number != 0; number = next_[number])
      if (may_share(table.entries[number].kind)) {
        table.entries[number].block = Starter::no_block;
        table.entries[number].kind |= format::unrecorded_request;
      }
  }
  return entry;
}

void Requests::erase_behind(std::uint16_t newest, Request& entry) noexcept {
  const std::uint16_t number = number_of(entry);
  std::uint16_t before = newest;
  while (next_[before] != number) before = next_[before];
  next_[before] = next_[number];
  free(entry);
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
  to.newest = table_->last_id;
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

void Requests::forget(std::uint64_t handle, std::uint32_t block) noexcept {
  const Locked locked(*this);
  Request* entry = pick(handle, block);
  if (entry != nullptr && (entry->persistent() || --entry->starts == 0)) erase(*entry);
}

void Requests::after_fork() noexcept {
  lock_.reset();
  table_ = nullptr;
}

}  // namespace tare::mpi
