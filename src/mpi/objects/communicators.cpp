#include "mpi/objects/communicators.h"

#include <algorithm>
#include <cstring>

#include "format/communicator_number.h"
#include "recorder/definition_log.h"
#include "recorder/every_call.h"
#include "recorder/locations.h"
#include "recorder/segment.h"
#include "recorder/system.h"

namespace tare::mpi {

TARE_EVERY_CALL constinit std::atomic<std::uint32_t> communicator_generation{0};
TARE_EVERY_CALL constinit std::atomic<std::uint32_t> datatype_generation{0};

namespace {

struct Entry {
  std::uint64_t handle;
  Communicator communicator;  // number 0: free
};

// The most communicators alive at the same time. Calls on further ones carry no communicator.
constexpr unsigned capacity = 4096;
constinit Entry entries[capacity] = {};
constinit unsigned used = 0;  // entries that were ever used
constinit recorder::SpinLock table_lock;

// How many communicators with the same members were made from a parent.
struct Lineage {
  std::uint32_t parent;
  std::uint64_t seed;
  std::uint32_t made;  // 0: free
};
constinit Lineage lineages[capacity] = {};
constinit unsigned lineages_used = 0;

// Communicators with the same members, made from parents of one family.
struct Likeness {
  std::uint64_t hash;
  std::uint32_t made;
  std::uint32_t shared_family;  // of those that have none of their own
};
constexpr std::uint32_t families_of_their_own = 16;
constinit Likeness likenesses[format::max_families] = {};
constinit unsigned likenesses_used = 0;
constinit std::uint32_t last_family = 0;
constinit std::uint32_t made_without_family = 0;
constinit std::uint32_t scopes_made = 0;

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

// A communicator that was freed is no parent any more.
void remove_lineages(std::uint32_t parent) noexcept {
  for (unsigned i = 0; i < lineages_used; ++i)
    if (lineages[i].parent == parent) lineages[i] = {};
}

// On the other side of an intercommunicator, the two groups are exchanged.
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

std::uint32_t new_family() noexcept { return last_family + 1 < format::scope_family ? ++last_family : 0; }

std::uint32_t member_without_family() noexcept {
  if (made_without_family + 1 == format::max_members) return format::no_communicator;
  return format::member_number(0, ++made_without_family);
}

// The likeness with a hash, made if there is room for it; else nullptr.
Likeness* likeness_of(std::uint64_t hash) noexcept {
  for (unsigned i = 0; i < likenesses_used; ++i)
    if (likenesses[i].hash == hash) return &likenesses[i];
  if (likenesses_used == std::size(likenesses)) return nullptr;
  likenesses[likenesses_used] = {hash, 0, 0};
  return &likenesses[likenesses_used++];
}

// A number for a communicator that was just made; format::no_communicator if there is none left.
std::uint32_t new_number(const Communicator& c, std::uint32_t parent) noexcept {
  const std::uint64_t sizes = mixed(static_cast<std::uint32_t>(c.size), static_cast<std::uint32_t>(c.remote_size));
  Likeness* likeness = likeness_of(mixed(mixed(members_of(c), sizes), format::family_of(parent)));
  if (likeness == nullptr) return member_without_family();
  const std::uint32_t made = likeness->made;
  const std::uint32_t member = made < families_of_their_own ? 0 : made - families_of_their_own;
  if (member == format::max_members) return format::no_communicator;
  ++likeness->made;
  if (made <= families_of_their_own) likeness->shared_family = new_family();
  if (likeness->shared_family == 0) return member_without_family();
  return format::member_number(likeness->shared_family, member);
}

std::uint32_t new_scope() noexcept { return format::member_number(format::scope_family, scopes_made++); }

// A communicator, or its name, has no definition. That matters if it has profile rows of its own, or if there is a
// trace, whose calls cannot be matched with those of other ranks then.
void note_undefined(std::uint32_t number) noexcept {
  const auto* segment = recorder::segment();
  const bool traces = segment != nullptr && (segment->process.flags & format::traced) != 0;
  if (recorder::this_location != nullptr && (traces || number == format::family_of(number)))
    recorder::this_location->shared().summary.full |= format::full_communicators;
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
  if (!recorder::define_in_half(&definition, sizeof definition, {name, length})) note_undefined(c.number);
}

// Programs may open any number of files, and the definition log is limited. Calls on further files name only the
// communicator.
constexpr unsigned max_windows = 1024;
constexpr unsigned max_files = 1024;
constexpr std::size_t max_file_name_bytes = 64 * 1024;  // of all file names
constexpr std::uint64_t window_label = 3;
constexpr std::uint64_t file_label = 4;
constinit unsigned windows_made = 0;
struct File {
  std::uint64_t id;  // of communicator and name
  std::uint32_t number;
};
constinit File files[max_files] = {};
constinit unsigned files_opened = 0;
constinit std::size_t file_name_bytes = 0;

std::uint64_t hash_of(const char* name) noexcept {
  std::uint64_t hash = 0;
  for (; *name != '\0'; ++name) hash = mixed(hash, static_cast<unsigned char>(*name));
  return hash;
}

void put(std::uint64_t handle, const Communicator& with, std::uint32_t scope) noexcept {
  Entry* entry = find(handle);
  if (entry == nullptr) entry = free_entry();
  if (entry == nullptr) return;
  *entry = {handle, with};
  entry->communicator.scope = scope;
}

void define(format::DefinitionKind kind, std::uint32_t scope, const Communicator& with, std::uint64_t key,
            format::WindowFlavour flavour, const char* name) noexcept {
  format::ScopeDefinition definition{};
  const std::size_t length = std::strlen(name);
  definition.head.kind = kind;
  definition.scope = scope;
  definition.communicator = with.number;
  definition.key = key;
  definition.flavour = flavour;
  definition.name_bytes = static_cast<std::uint32_t>(length);
  recorder::define(&definition, sizeof definition, {name, length});
}

void define_name(format::DefinitionKind kind, std::uint32_t number, const char* name) noexcept {
  if (number == 0 || name == nullptr) return;
  format::NameDefinition definition{};
  const std::size_t length = std::strlen(name);
  definition.head.kind = kind;
  definition.number = number;
  definition.name_bytes = static_cast<std::uint32_t>(length);
  if (!recorder::define_in_half(&definition, sizeof definition, {name, length})) note_undefined(number);
}

}  // namespace

const Communicator& find_communicator(Thread& thread, std::uint64_t handle) noexcept {
  static constexpr Communicator unknown{};
  // read before the table, so that an entry which becomes outdated in between does not look new
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
    described.number = new_number(described, origin.parent);
    if (described.number == format::no_communicator) return {};
    described.key = key_of(described, origin);
    *entry = {handle, described};
  }
  define(described, origin, name);
  return described;
}

void remove_communicator(std::uint64_t handle) noexcept {
  {
    const Locked locked;
    if (Entry* entry = find(handle)) {
      remove_lineages(entry->communicator.number);
      *entry = {};
    }
  }
  communicator_generation.fetch_add(1, std::memory_order_relaxed);
}

void rename_communicator(std::uint32_t number, const char* name) noexcept {
  define_name(format::DefinitionKind::communicator_name, number, name);
}

void add_window(std::uint64_t handle, const Communicator& with, format::WindowFlavour flavour) noexcept {
  if (with.number == format::no_communicator) return;
  std::uint32_t number = 0;
  std::uint64_t key = 0;
  {
    const Locked locked;
    if (windows_made < max_windows) {
      ++windows_made;
      number = new_scope();
      key = with.key == 0 ? 0 : key_of(with, {with.number, with.key, window_label});
    }
    put(handle, with, number);
  }
  if (number != 0) define(format::DefinitionKind::window, number, with, key, flavour, "");
}

void add_file(std::uint64_t handle, const Communicator& with, const char* name) noexcept {
  if (with.number == format::no_communicator || name == nullptr) return;
  const std::uint64_t hash = mixed(file_label, hash_of(name));
  const std::uint64_t id = mixed(hash, with.number);
  std::uint32_t number = 0;
  bool is_new = false;
  {
    const Locked locked;
    for (unsigned i = 0; i < files_opened && number == 0; ++i)
      if (files[i].id == id) number = files[i].number;
    const std::size_t bytes = std::strlen(name);
    is_new = number == 0 && files_opened < max_files && bytes <= max_file_name_bytes - file_name_bytes;
    if (is_new) {
      number = new_scope();
      file_name_bytes += bytes;
      files[files_opened++] = {id, number};
    }
    put(handle, with, number);
  }
  const std::uint64_t key = with.key == 0 ? 0 : mixed(hash, with.key);
  if (is_new) define(format::DefinitionKind::file, number, with, key, format::WindowFlavour::none, name);
}

void remove_scope(std::uint64_t handle) noexcept {
  {
    const Locked locked;
    if (Entry* entry = find(handle)) *entry = {};
  }
  communicator_generation.fetch_add(1, std::memory_order_relaxed);
}

void rename_window(std::uint32_t number, const char* name) noexcept {
  define_name(format::DefinitionKind::window_name, number, name);
}

}  // namespace tare::mpi
