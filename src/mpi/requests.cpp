#include "mpi/requests.h"

#include "recorder/process.h"

namespace tare::mpi {

constinit Requests requests;

// The first request of the process.
Request* Requests::place_first(std::uint64_t handle, bool plain_send) noexcept {
  table_ = recorder::request_table();
  return table_ == nullptr ? nullptr : place(handle, plain_send);
}

// The entry for a request, its handle still 0. Calls nothing that it goes on after, so that it saves no registers.
Request* Requests::place(std::uint64_t handle, bool plain_send) noexcept {
  if (table_ == nullptr) [[unlikely]]
    return place_first(handle, plain_send);
  format::RequestTable& table = *table_;
  const unsigned slot = slot_of(handle);
  std::uint32_t number = table.index[slot];
  if (number != 0) {
    Request& known = table.entries[number];
    const bool beside = plain_send && (known.kind & ~unsigned{format::shared_handle}) == format::plain_request;
    if (!beside) {
      known.starts = 1;
      known.id = ++table.last_id;
    } else if (known.starts != UINT16_MAX) {
      ++known.starts;
    }
    return &known;
  }
  number = table.free;
  if (number != 0) {
    table.free = table.entries[number].row;
  } else {
    number = table.used.load(std::memory_order_relaxed) + 1;
    if (number >= format::request_capacity) return nullptr;
    table.used.store(number, std::memory_order_release);
  }
  table.index[slot] = static_cast<std::uint16_t>(number);
  table.count.store(table.count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  Request& entry = table.entries[number];
  entry.id = ++table.last_id;
  entry.starts = 1;
  return &entry;
}

unsigned Requests::move_up(unsigned hole) noexcept {
  format::RequestTable& table = *table_;
  for (unsigned slot = (hole + 1) % format::request_slots; table.index[slot] != 0;
       slot = (slot + 1) % format::request_slots) {
    const unsigned home = home_of(table.entries[table.index[slot]].handle);
    const unsigned from_home = (slot - home) % format::request_slots;
    const unsigned from_hole = (slot - hole) % format::request_slots;
    if (from_home < from_hole) continue;  // would end up before its home
    table.index[hole] = table.index[slot];
    hole = slot;
  }
  return hole;
}

void Requests::finish_shared(const Request& request) noexcept {
  const Locked locked(*this);
  Request* entry = entry_of(request);
  if (entry != nullptr) end(*entry);
}

void Requests::forget(std::uint64_t handle) noexcept {
  const Locked locked(*this);
  Request* entry = of(handle);
  if (entry != nullptr && (entry->persistent() || --entry->starts == 0)) erase(*entry);
}

void Requests::after_fork() noexcept {
  lock_.reset();
  table_ = nullptr;
}

}  // namespace tare::mpi
