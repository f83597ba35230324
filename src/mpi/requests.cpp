#include "mpi/requests.h"

#include <cstring>
#include <utility>

#include "recorder/segment.h"

namespace tare::mpi {

constinit Requests requests;

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

// Frees it again.
void Requests::give_back(std::uint16_t number) noexcept {
  free(*table_, table_->entries[number]);
  if (--others_ == 0) plain_ = table_;
  next_[number] = static_cast<std::uint16_t>(table_->free);
  table_->free = number;
}

// The first request of the process maps the table.
Request* Requests::place_any(std::uint64_t handle, std::uint32_t block, std::uint16_t row, std::uint8_t kind) noexcept {
  if (table_ == nullptr) {
    table_ = recorder::request_table();
    if (table_ == nullptr) return nullptr;
    table_->used.store(direct_entries, std::memory_order_release);
    plain_ = table_;
  }
  if (const std::uint16_t newest = newest_of(handle); newest != 0) return place_beside(newest, {block, row, kind});
  format::RequestTable& table = *table_;
  Request& direct = direct_of(table, handle);
  if (direct.handle == 0) return &begin(table, direct);
  const std::uint16_t number = take();
  if (number == 0) return nullptr;
  table.index[slot_of(handle)] = number;
  next_[number] = 0;
  return &begin(table, table.entries[number]);
}

// The same if the handle has requests already. The entry comes in front of them.
Request* Requests::place_beside(std::uint16_t newest, Starter starter) noexcept {
  format::RequestTable& table = *table_;
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
    if (before == 0) return &known;
    put_first(newest, before, number);
    return &table.entries[newest <= direct_entries ? newest : number];
  }
  const std::uint16_t number = take();
  if (number == 0) {
    // Which requests of the handle have completed cannot be known from here on, so they belong to no thread.
    for (std::uint16_t each = newest; each != 0 && may_share(starter.kind); each = next_[each])
      if (may_share(table.entries[each].kind)) {
        table.entries[each].block = Starter::no_block;
        table.entries[each].kind |= format::unrecorded_request;
      }
    return nullptr;
  }
  if (newest <= direct_entries) {
    move(newest, number);
    next_[number] = next_[newest];
    next_[newest] = number;
    return &begin(table, table.entries[newest]);
  }
  table.index[slot_of(table.entries[newest].handle)] = number;
  next_[number] = newest;
  return &begin(table, table.entries[number]);
}

// Moves what an entry contains. To readers the request is in neither of them meanwhile.
void Requests::move(std::uint16_t from, std::uint16_t to) noexcept {
  Request& source = table_->entries[from];
  Request copy = source;
  std::atomic_ref(source.handle).store(0, std::memory_order_release);
  const std::uint64_t handle = std::exchange(copy.handle, 0);
  table_->entries[to] = copy;
  std::atomic_ref(table_->entries[to].handle).store(handle, std::memory_order_release);
  received_[to] = received_[from];
}

// The request `number`, which follows `before` in the list of its handle, becomes the newest instead of `newest`.
void Requests::put_first(std::uint16_t newest, std::uint16_t before, std::uint16_t number) noexcept {
  format::RequestTable& table = *table_;
  if (newest > direct_entries) {
    table.index[slot_of(table.entries[newest].handle)] = number;
    next_[before] = next_[number];
    next_[number] = newest;
    return;
  }
  // The newest stays where its handle hashes to: the two exchange their entries.
  const Request first = table.entries[number];
  const std::uint64_t received = received_[number];
  move(newest, number);
  table.entries[newest] = first;
  received_[newest] = received;
  if (before == newest) return;
  // The request that was the newest comes second.
  next_[before] = next_[number];
  next_[number] = next_[newest];
  next_[newest] = number;
}

// Linear probing in the index. Deleting moves later slots up, so there are no tombstones.
void Requests::erase_any(std::uint16_t number) noexcept {
  format::RequestTable& table = *table_;
  Request& entry = table.entries[number];
  const std::uint16_t older = next_[number];
  if (number <= direct_entries && older == 0) return free(table, entry);
  const std::uint16_t newest = newest_of(entry.handle);
  if (number != newest) {
    std::uint16_t before = newest;
    while (next_[before] != number) before = next_[before];
    next_[before] = older;
    return give_back(number);
  }
  if (number <= direct_entries) {
    next_[number] = next_[older];
    move(older, number);
    return give_back(older);
  }
  const unsigned slot = slot_of(entry.handle);
  if (older != 0) {
    table.index[slot] = older;
  } else {
    table.index[move_up(slot)] = 0;
  }
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
  table_ = plain_ = nullptr;
  others_ = 0;
  std::memset(next_, 0, sizeof next_);
}

}  // namespace tare::mpi
