#include "recorder/used_files.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "recorder/segment.h"
#include "recorder/system.h"

namespace tare::recorder {
namespace {

using format::FileEntry;
using format::FileTable;
using format::FileUse;

constexpr std::uint32_t slots = 2048;  // a power of two
static_assert(slots >= 2 * format::file_capacity && slots >= 2 * format::file_use_capacity);

constinit SpinLock lock;
constinit SpinLock shared_lock;
// Hash tables of numbers of entries and of rows; 0: free. (Entries and rows 0 are not searched for.)
constinit std::uint16_t entry_slots[slots] = {};
constinit std::uint16_t use_slots[slots] = {};

std::uint32_t mixed(std::uint64_t value) noexcept {
  return static_cast<std::uint32_t>((value * 0x9e3779b97f4a7c15U) >> 40);
}

std::uint64_t hash_of(const char* name, std::uint32_t bytes) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a
  for (std::uint32_t i = 0; i < bytes; ++i) hash = (hash ^ static_cast<unsigned char>(name[i])) * 0x100000001b3U;
  return hash;
}

// Whether names alone tell files apart.
bool is_same(const FileTable& table, const FileEntry& entry, const NamedFile& file, std::uint32_t bytes) noexcept {
  if (entry.name_bytes != bytes || ((entry.flags & format::name_cut) != 0) != (bytes != file.name_bytes)) return false;
  if (bytes != 0 && std::memcmp(table.names + entry.name_at, file.name, bytes) != 0) return false;
  const bool is_whole = bytes != 0 && bytes == file.name_bytes;
  return is_whole || (entry.device == file.device && entry.inode == file.inode);
}

// There is room. A reader may read meanwhile: what is published last counts what was written before.
std::uint32_t add_entry(FileTable& table, const NamedFile& file, std::uint32_t bytes) noexcept {
  const std::uint32_t number = table.head.files;
  FileEntry& entry = table.files[number];
  entry.name_at = table.head.name_bytes;
  entry.name_bytes = static_cast<std::uint16_t>(bytes);
  entry.kind = file.kind;
  entry.flags = 0;
  if (bytes != file.name_bytes) entry.flags |= format::name_cut;
  if (bytes == 0) entry.flags |= format::name_unknown;
  entry.device = file.device;
  entry.inode = file.inode;
  if (bytes != 0) std::memcpy(table.names + entry.name_at, file.name, bytes);
  std::atomic_ref(table.head.name_bytes).store(entry.name_at + bytes, std::memory_order_release);
  std::atomic_ref(table.head.files).store(number + 1, std::memory_order_release);
  return number;
}

// The entries and rows that every table has. They are made by the first call that is counted.
void prepare(FileTable& table) noexcept {
  if (table.head.uses != 0) return;
  table.files[format::unknown_file].flags = format::name_unknown;
  table.files[format::file_without_room].flags = format::name_unknown | format::other_files;
  for (std::uint32_t interface = 0; interface < format::file_interfaces; ++interface) {
    table.uses[interface].file = format::file_without_room;
    table.uses[interface].interface = static_cast<format::FileInterface>(interface);
  }
  std::atomic_ref(table.head.files).store(format::file_without_room + 1, std::memory_order_release);
  std::atomic_ref(table.head.uses).store(format::file_interfaces, std::memory_order_release);
}

}  // namespace

std::uint32_t entry_of(const NamedFile& file) noexcept {
  FileTable* table = file_table();
  if (table == nullptr) return format::unknown_file;
  const std::uint32_t bytes = std::min(file.name_bytes, format::max_file_name);
  const Locked locked(lock);
  prepare(*table);
  const std::uint64_t hash = bytes == 0 ? file.device ^ file.inode << 20 : hash_of(file.name, bytes);
  std::uint32_t slot = mixed(hash) % slots;
  for (; entry_slots[slot] != 0; slot = (slot + 1) % slots) {
    FileEntry& entry = table->files[entry_slots[slot]];
    if (!is_same(*table, entry, file, bytes)) continue;
    if (entry.kind == format::FileKind::unknown) entry.kind = file.kind;  // MPI-IO knows the name alone
    return entry_slots[slot];
  }
  if (table->head.files >= format::file_capacity || bytes > format::file_names_bytes - table->head.name_bytes)
    return format::file_without_room;
  const std::uint32_t number = add_entry(*table, file, bytes);
  entry_slots[slot] = static_cast<std::uint16_t>(number);
  return number;
}

FileUse* use_of(std::uint32_t file, format::FileInterface interface, std::uint32_t block) noexcept {
  FileTable* table = file_table();
  if (table == nullptr) return nullptr;
  const auto number_of_interface = static_cast<std::uint32_t>(interface);
  FileUse* shared = &table->uses[number_of_interface];
  if (file == format::file_without_room) return shared;
  const Locked locked(lock);
  prepare(*table);
  const std::uint64_t key = std::uint64_t{block} << 32 | file << 2 | number_of_interface;
  std::uint32_t slot = mixed(key) % slots;
  for (; use_slots[slot] != 0; slot = (slot + 1) % slots) {
    FileUse& use = table->uses[use_slots[slot]];
    if (use.file == file && use.interface == interface && use.block == block) return &use;
  }
  const std::uint32_t number = table->head.uses;
  if (number >= format::file_use_capacity) return shared;
  FileUse& use = table->uses[number];
  use.file = file;
  use.interface = interface;
  use.block = block;
  std::atomic_ref(table->head.uses).store(number + 1, std::memory_order_release);
  use_slots[slot] = static_cast<std::uint16_t>(number);
  return &use;
}

bool is_shared(const FileUse& use) noexcept { return use.file == format::file_without_room; }

void lock_shared_uses() noexcept { shared_lock.lock(); }
void unlock_shared_uses() noexcept { shared_lock.unlock(); }

void reset_used_files() noexcept {
  lock.reset();
  shared_lock.reset();
  std::memset(entry_slots, 0, sizeof entry_slots);
  std::memset(use_slots, 0, sizeof use_slots);
}

}  // namespace tare::recorder
