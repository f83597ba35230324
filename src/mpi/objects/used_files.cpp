#include "mpi/objects/used_files.h"

#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdio>
#include <cstring>

#include "format/function_meaning.h"
#include "recorder/errno_guard.h"
#include "recorder/system.h"
#include "recorder/used_files.h"

namespace tare::mpi {
namespace {

using format::FileAccess;
using format::FileInterface;
using format::FileUse;

// The entries of the files that were opened, by the number of their scope, of which there are at most as many as half
// of the slots (communicators.cpp). A slot has the scope in its high half; 0: it is free.
constexpr std::uint32_t slots = 2048;
constinit std::atomic<std::uint64_t> entries[slots] = {};

std::uint32_t slot_of(std::uint32_t scope) noexcept { return scope * 0x9e3779b1U % slots; }

void put(std::uint32_t scope, std::uint32_t entry) noexcept {
  const std::uint64_t wanted = std::uint64_t{scope} << 32 | entry;
  for (std::uint32_t step = 0, slot = slot_of(scope); step < slots; ++step, slot = (slot + 1) % slots) {
    std::uint64_t there = 0;
    if (entries[slot].compare_exchange_strong(there, wanted, std::memory_order_acq_rel) || there >> 32 == scope) return;
  }
}

std::uint32_t find(std::uint32_t scope) noexcept {
  for (std::uint32_t step = 0, slot = slot_of(scope); scope != 0 && step < slots; ++step, slot = (slot + 1) % slots) {
    const std::uint64_t there = entries[slot].load(std::memory_order_acquire);
    if (there == 0) break;
    if (there >> 32 == scope) return static_cast<std::uint32_t>(there);
  }
  return format::unknown_file;
}

// The entry of a name as MPI_File_open was given it. A relative one begins in the current directory. It may begin with
// the name of a file system and a colon.
std::uint32_t entry_of(const char* name) noexcept {
  const recorder::ErrnoGuard guard;
  char path[2 * PATH_MAX];
  std::size_t bytes = 0;
  const bool is_absolute = name[0] == '/' || std::strchr(name, ':') != nullptr;
  if (!is_absolute && getcwd(path, PATH_MAX) != nullptr) {
    bytes = std::strlen(path);
    if (bytes == 0 || path[bytes - 1] != '/') path[bytes++] = '/';
    while (name[0] == '.' && name[1] == '/') name += 2;  // as POSIX names the file
  }
  const std::size_t more = strnlen(name, sizeof path - bytes);
  std::memcpy(path + bytes, name, more);
  return recorder::entry_of({path, static_cast<std::uint32_t>(bytes + more), format::FileKind::unknown, 0, 0});
}

// A call that failed has no bytes.
void count_transfer(format::FileTransfers& to, const recorder::Call& call, std::uint64_t ticks) noexcept {
  recorder::add_transfer(to, call.bytes == format::no_bytes ? -1 : static_cast<std::int64_t>(call.bytes), ticks);
}

}  // namespace

void count_open(const Thread& thread, const recorder::Call& call, std::uint32_t scope, const char* name,
                bool has_failed) noexcept {
  const std::uint32_t entry = has_failed || name == nullptr ? format::unknown_file : entry_of(name);
  if (scope != 0 && !has_failed) put(scope, entry);
  FileUse* use = recorder::use_of(entry, FileInterface::mpi_io, thread.block);
  if (use == nullptr) return;
  recorder::count_in(
      *use, [&](FileUse& to) { recorder::add_other(to, FileAccess::open, call.leave - call.enter, has_failed); });
}

void count_file_call(const Thread& thread, const recorder::Call& call, bool has_failed) noexcept {
  FileUse* use = recorder::use_of(find(call.scope), FileInterface::mpi_io, thread.block);
  if (use == nullptr) return;
  const FileAccess access = format::meaning_of(call.function).access;
  const std::uint64_t ticks = call.leave - call.enter;
  recorder::count_in(*use, [&](FileUse& to) {
    switch (access) {
      case FileAccess::read:
      case FileAccess::read_begin:
        return count_transfer(to.reads, call, ticks);
      case FileAccess::write:
      case FileAccess::write_begin:
        return count_transfer(to.writes, call, ticks);
      case FileAccess::read_end:
        to.reads.ticks += ticks;
        return;
      case FileAccess::write_end:
        to.writes.ticks += ticks;
        return;
      default:
        recorder::add_other(to, access, ticks, has_failed);
    }
  });
}

void forget_used_files() noexcept {
  for (std::atomic<std::uint64_t>& entry : entries) entry.store(0, std::memory_order_relaxed);
}

}  // namespace tare::mpi
