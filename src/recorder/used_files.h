// The table of files in the segment (format/file_table.h): finds the entry of a file and the row of a thread, for all
// sources of events that use files.
#pragma once

#include <cstdint>

#include <algorithm>

#include "format/file_table.h"
#include "format/function_meaning.h"

namespace tare::recorder {

// A file, as the system names it. `name` need not be ended by a zero byte, and may be any bytes.
struct NamedFile {
  const char* name;
  std::uint32_t name_bytes;  // 0: the system does not say
  format::FileKind kind;
  std::uint64_t device;
  std::uint64_t inode;
};

// The number of its entry, which is made if there is none; that of other files if there is no more room.
std::uint32_t entry_of(const NamedFile& file) noexcept;

// The row of the thread with the location `block`. It is that of all threads, shared_use(), if there is no more room.
format::FileUse* use_of(std::uint32_t file, format::FileInterface interface, std::uint32_t block) noexcept;

// Whether other threads may count in the row, so that count_in() takes a lock.
bool is_shared(const format::FileUse& use) noexcept;

// Adds a call of so many bytes (negative: it failed) and ticks.
inline void add_transfer(format::FileTransfers& to, std::int64_t bytes, std::uint64_t ticks) noexcept {
  ++to.calls;
  to.ticks += ticks;
  to.ticks_max = std::max(to.ticks_max, ticks);
  if (bytes < 0) {
    ++to.failed;
    return;
  }
  to.bytes += static_cast<std::uint64_t>(bytes);
  ++to.sizes[format::file_size_bin(static_cast<std::uint64_t>(bytes))];
}

// Adds a call that does not move bytes.
inline void add_other(format::FileUse& to, format::FileAccess access, std::uint64_t ticks, bool has_failed) noexcept {
  using format::FileAccess;
  to.failed += static_cast<std::uint64_t>(has_failed);
  (access == FileAccess::sync ? to.sync_ticks : to.meta_ticks) += ticks;
  switch (access) {
    case FileAccess::open:
      ++to.opens;
      break;
    case FileAccess::close:
      ++to.closes;
      break;
    case FileAccess::seek:
      ++to.seeks;
      break;
    case FileAccess::sync:
      ++to.syncs;
      break;
    default:
      ++to.other_calls;
  }
}

void lock_shared_uses() noexcept;
void unlock_shared_uses() noexcept;

// Calls count(use), which adds to the row.
template <class Count>
[[gnu::always_inline]] inline void count_in(format::FileUse& use, Count count) noexcept {
  if (!is_shared(use)) [[likely]] {
    count(use);
    return;
  }
  lock_shared_uses();
  count(use);
  unlock_shared_uses();
}

// For a forked child: it has another table.
void reset_used_files() noexcept;

}  // namespace tare::recorder
