#include "mpi/communicators.h"

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

}  // namespace

Communicator find_communicator(std::uint64_t handle) noexcept {
  const Locked locked;
  const Entry* entry = find(handle);
  return entry == nullptr ? Communicator{} : entry->communicator;
}

Communicator add_communicator(std::uint64_t handle, Communicator described, const char* name) noexcept {
  {
    const Locked locked;
    if (const Entry* known = find(handle)) return known->communicator;
    Entry* entry = free_entry();
    if (entry == nullptr) return {};
    described.number = ++last_number;
    *entry = {handle, described};
  }
  format::CommunicatorDefinition definition{};
  const std::size_t length = std::strlen(name);
  definition.head.kind = format::DefinitionKind::communicator;
  definition.communicator = described.number;
  definition.size = described.size;
  definition.rank = described.rank;
  definition.remote_size = described.remote_size;
  definition.name_bytes = static_cast<std::uint32_t>(length);
  recorder::define(&definition, sizeof definition, {name, length});
  return described;
}

void forget_communicator(std::uint64_t handle) noexcept {
  {
    const Locked locked;
    if (Entry* entry = find(handle)) *entry = {};
  }
  communicator_generation.fetch_add(1, std::memory_order_relaxed);
}

void rename_communicator(std::uint64_t handle, const char* name) noexcept {
  const Communicator known = find_communicator(handle);
  if (known.number == format::no_communicator || name == nullptr) return;
  format::CommunicatorNameDefinition definition{};
  const std::size_t length = std::strlen(name);
  definition.head.kind = format::DefinitionKind::communicator_name;
  definition.communicator = known.number;
  definition.name_bytes = static_cast<std::uint32_t>(length);
  recorder::define(&definition, sizeof definition, {name, length});
}

}  // namespace tare::mpi
