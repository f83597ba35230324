#include "mpi/requests.h"

#include "recorder/system.h"

namespace tare::mpi {

constinit Requests requests;

namespace {

// A shard is a hash table with linear probing. Deleting moves later entries up, so there are no tombstones.
struct Shard {
  recorder::SpinLock lock;
  std::uint32_t used;
  Request entries[Requests::slots];  // handle 0: empty (no ABI has a request handle of 0)
};
constinit Shard table[Requests::shards] = {};

std::uint64_t mix(std::uint64_t handle) noexcept { return handle * 0x9e3779b97f4a7c15U; }
Shard& shard_of(std::uint64_t handle) noexcept { return table[mix(handle) >> 58]; }
unsigned home_of(std::uint64_t handle) noexcept { return static_cast<unsigned>(mix(handle) >> 40) % Requests::slots; }
static_assert(Requests::shards == 1U << (64 - 58));

class Locked {
 public:
  explicit Locked(Shard& shard) noexcept : shard_(requests.shared() ? &shard : nullptr) {
    if (shard_ != nullptr) shard_->lock.lock();
  }
  ~Locked() {
    if (shard_ != nullptr) shard_->lock.unlock();
  }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  Shard* shard_;
};

// Slot of the handle, or the empty one where it would go.
unsigned probe(const Shard& shard, std::uint64_t handle) noexcept {
  unsigned slot = home_of(handle);
  while (shard.entries[slot].handle != 0 && shard.entries[slot].handle != handle) slot = (slot + 1) % Requests::slots;
  return slot;
}

void erase(Shard& shard, unsigned hole) noexcept {
  for (unsigned slot = (hole + 1) % Requests::slots; shard.entries[slot].handle != 0;
       slot = (slot + 1) % Requests::slots) {
    const unsigned home = home_of(shard.entries[slot].handle);
    const unsigned from_home = (slot - home) % Requests::slots;
    const unsigned from_hole = (slot - hole) % Requests::slots;
    if (from_home < from_hole) continue;  // would end up before its home
    shard.entries[hole] = shard.entries[slot];
    hole = slot;
  }
  shard.entries[hole].handle = 0;
  --shard.used;
}

}  // namespace

bool Requests::put(const Request& request) noexcept {
  Shard& shard = shard_of(request.handle);
  const Locked locked(shard);
  const unsigned slot = probe(shard, request.handle);
  if (shard.entries[slot].handle == 0) {
    if (shard.used >= slots * 7 / 8) return false;
    ++shard.used;
    count_.fetch_add(1, std::memory_order_relaxed);
  }
  shard.entries[slot] = request;
  std::uint32_t id = last_id_.fetch_add(1, std::memory_order_relaxed) + 1;
  shard.entries[slot].id = id == 0 ? 1 : id;
  return true;
}

Request Requests::find(std::uint64_t handle) noexcept {
  Shard& shard = shard_of(handle);
  const Locked locked(shard);
  return shard.entries[probe(shard, handle)];
}

void Requests::update(const Request& request) noexcept {
  Shard& shard = shard_of(request.handle);
  const Locked locked(shard);
  Request& entry = shard.entries[probe(shard, request.handle)];
  if (entry.handle == request.handle && entry.id == request.id) entry = request;
}

void Requests::remove(std::uint64_t handle, std::uint32_t id) noexcept {
  Shard& shard = shard_of(handle);
  const Locked locked(shard);
  const unsigned slot = probe(shard, handle);
  if (shard.entries[slot].handle == 0 || shard.entries[slot].id != id) return;
  erase(shard, slot);
  count_.fetch_sub(1, std::memory_order_relaxed);
}

void Requests::after_fork() noexcept {
  for (Shard& shard : table) shard.lock.reset();
}

}  // namespace tare::mpi
