#include "mpi/communicators.h"

#include <algorithm>
#include <cstring>

#include "recorder/process.h"
#include "recorder/system.h"

namespace tare::mpi {

constinit std::atomic<std::uint32_t> communicator_generation{0};
constinit std::atomic<std::uint32_t> datatype_generation{0};

namespace {

struct Entry {
  std::uint64_t handle;
  Communicator communicator;  // number 0: free
};

// More communicators alive at once than this are not told apart: their calls carry no communicator.
constexpr unsigned capacity = 4096;
constinit Entry entries[capacity] = {};
constinit unsigned used = 0;  // entries that were ever in use
constinit std::uint32_t last_number = 0;
constinit recorder::SpinLock table_lock;

// How many communicators of the same members were made from a parent.
struct Lineage {
  std::uint32_t parent;
  std::uint64_t seed;
  std::uint32_t made;  // 0: free
};
constinit Lineage lineages[capacity] = {};
constinit unsigned lineages_used = 0;

class Locked {
 public:
  Locked() noexcept { table_lock.lock(); }
  ~Locked() { table_lock.unlock(); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
};

Entry* find(std::uint64_t handle) noexcept {
  for (unsigned i = 0; i < used; ++i)
    if (entries[i].communicator.number != format::no_communicator && entries[i].handle == handle) return &entries[i];
  return nullptr;
}

Entry* free_entry() noexcept {
  for (unsigned i = 0; i < used; ++i)
    if (entries[i].communicator.number == format::no_communicator) return &entries[i];
  return used < capacity ? &entries[used++] : nullptr;
}

Lineage* lineage_of(std::uint32_t parent, std::uint64_t seed) noexcept {
  Lineage* free = nullptr;
  for (unsigned i = 0; i < lineages_used; ++i) {
    if (lineages[i].made == 0)
      free = &lineages[i];
    else if (lineages[i].parent == parent && lineages[i].seed == seed)
      return &lineages[i];
  }
  if (free == nullptr && lineages_used < capacity) free = &lineages[lineages_used++];
  if (free != nullptr) *free = {parent, seed, 0};
  return free;
}

// Nothing is made any more from a communicator that is gone.
void forget_lineages(std::uint32_t parent) noexcept {
  for (unsigned i = 0; i < lineages_used; ++i)
    if (lineages[i].parent == parent) lineages[i] = {};
}

// The groups of an intercommunicator swap places on its other side.
std::uint64_t members_of(const Communicator& c) noexcept {
  if (c.group == nullptr || c.peers == nullptr) return 0;
  if (c.remote_size == 0) return c.group->hash;
  return mixed(std::min(c.group->hash, c.peers->hash), std::max(c.group->hash, c.peers->hash));
}

std::uint64_t key_of(const Communicator& c, const Origin& origin) noexcept {
  const std::uint64_t members = members_of(c);
  if (members == 0 || (origin.parent != format::no_communicator && origin.parent_key == 0)) return 0;
  const std::uint64_t seed = mixed(mixed(members, origin.parent_key), origin.label);
  Lineage* lineage = lineage_of(origin.parent, seed);
  if (lineage == nullptr) return 0;
  const std::uint64_t key = mixed(seed, ++lineage->made);
  return key == 0 ? 1 : key;
}

std::uint32_t number_of(const Group* group) noexcept { return group == nullptr ? 0 : group->number; }

void define(const Communicator& c, const Origin& origin, const char* name) noexcept {
  format::CommunicatorDefinition definition{};
  const std::size_t length = std::strlen(name);
  definition.head.kind = format::DefinitionKind::communicator;
  definition.communicator = c.number;
  definition.size = c.size;
  definition.rank = c.rank;
  definition.remote_size = c.remote_size;
  definition.key = c.key;
  definition.group = number_of(c.group);
  definition.remote_group = c.remote_size == 0 ? 0 : number_of(c.peers);
  definition.parent = origin.parent;
  definition.name_bytes = static_cast<std::uint32_t>(length);
  recorder::define(&definition, sizeof definition, {name, length});
}

}  // namespace

const Communicator& find_communicator(Thread& thread, std::uint64_t handle) noexcept {
  static constexpr Communicator unknown{};
  // Read before the table: an entry that is out of date in between must not look new.
  const std::uint32_t generation = Thread::generation(communicator_generation);
  const Locked locked;
  const Entry* known = find(handle);
  if (known == nullptr) return unknown;
  Thread::CommunicatorEntry& entry = thread.cached_communicator(handle);
  entry = {handle, generation, known->communicator};
  return entry.communicator;
}

Communicator add_communicator(std::uint64_t handle, Communicator described, Origin origin, const char* name) noexcept {
  {
    const Locked locked;
    if (const Entry* known = find(handle)) return known->communicator;
    Entry* entry = free_entry();
    if (entry == nullptr) return {};
    described.number = ++last_number;
    described.key = key_of(described, origin);
    *entry = {handle, described};
  }
  define(described, origin, name);
  return described;
}

void forget_communicator(std::uint64_t handle) noexcept {
  {
    const Locked locked;
    if (Entry* entry = find(handle)) {
      forget_lineages(entry->communicator.number);
      *entry = {};
    }
  }
  communicator_generation.fetch_add(1, std::memory_order_relaxed);
}

void rename_communicator(std::uint32_t number, const char* name) noexcept {
  if (number == format::no_communicator || name == nullptr) return;
  format::CommunicatorNameDefinition definition{};
  const std::size_t length = std::strlen(name);
  definition.head.kind = format::DefinitionKind::communicator_name;
  definition.communicator = number;
  definition.name_bytes = static_cast<std::uint32_t>(length);
  recorder::define(&definition, sizeof definition, {name, length});
}

}  // namespace tare::mpi
