// System calls for code in the measured program. None of them is a cancellation point, allocates, or changes errno (see
// ErrnoGuard).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "recorder/errno_guard.h"
#include "recorder/inside.h"

namespace tare::recorder {

// A lock for rare paths. Never held across a call into the loader, MPI or the program. A thread that holds one is in
// tare's own code: what a signal handler calls then is not recorded (inside.h), and so does not wait for the lock.
class SpinLock {
 public:
  void lock() noexcept;
  // For signal handlers, which may have interrupted the owner. Whether it is held now.
  bool try_lock() noexcept;
  void unlock() noexcept {
    const std::uintptr_t before = inside_before_;
    held_.store(false, std::memory_order_release);
    tare_inside = before;
  }
  // For a forked child, in which the owner may not exist.
  void reset() noexcept { held_.store(false, std::memory_order_relaxed); }

 private:
  std::atomic<bool> held_{false};
  std::uintptr_t inside_before_ = 0;
};

// Holds a lock until the end of the scope.
class Locked {
 public:
  explicit Locked(SpinLock& lock) noexcept : lock_(lock) { lock_.lock(); }
  ~Locked() { lock_.unlock(); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  SpinLock& lock_;
};

// Reads at most `bytes` bytes of a file; -1 if it cannot be opened.
long read_file(const char* path, char* out, std::size_t bytes) noexcept;

// How long the thread has waited for a processor so far, as the kernel counts it (proc(5), "schedstat"); UINT64_MAX: it
// does not tell.
std::uint64_t read_delay() noexcept;

// Appends to an existing file, in one write if the system takes it whole. False, with errno, if any byte is missing.
// Here and in map_file() the file must be regular, and belong to this user or to the owner of the directory.
bool append_file(const char* path, const char* data, std::size_t bytes) noexcept;

// Creates an empty file unless it exists. True if this call created it. Only this user may access it. After
// open_to_group() a group may read it.
bool create_file(const char* path) noexcept;
void open_to_group(const char* number) noexcept;  // nullptr: no group

void remove_file(const char* path) noexcept;

// A part of a mapping for which no space is reserved. Whoever maps the file must not write there.
struct Hole {
  std::size_t at;  // from the start of the mapping; a whole number of pages, like `bytes`
  std::size_t bytes;
};
// Reserves the space of [offset, offset + length) of a file, but for the hole, and maps it shared. Because the space is
// reserved, no access faults if the disk fills up. nullptr on failure.
void* map_file(const char* path, std::size_t offset, std::size_t length, Hole hole = {}) noexcept;

// Reserves the space of the first `bytes` bytes of a file. False if there is none.
bool reserve_file(const char* path, std::size_t bytes) noexcept;

// Makes a file `bytes` bytes long, without reserving space.
bool resize_file(const char* path, std::size_t bytes) noexcept;

// The sizes of this user's regular files with names that begin like `prefix`, and the space that they take.
struct FileSizes {
  std::uint64_t bytes;
  std::uint64_t taken;
};
// False if the directory cannot be read.
bool own_file_sizes(const char* directory, const char* prefix, FileSizes& sizes) noexcept;

// Takes a read lock on the first byte of a file. The kernel releases it when the process dies or calls exec. It needs
// no file descriptor, survives close_range(), and is not inherited by fork(). False if the file system has no such
// locks.
bool mark_file(const char* path) noexcept;
// Whether a process, this one included, holds such a lock on the file.
bool is_marked(const char* path) noexcept;

// Zeroed private memory, a whole number of pages; nullptr on failure.
void* map_memory(std::size_t bytes) noexcept;
void unmap_memory(void* memory, std::size_t bytes) noexcept;

// Whether the aligned word at the address can be read.
bool is_readable(std::uintptr_t address) noexcept;

// Sleeps until another thread or process wakes those who sleep on the word, at most `ns` nanoseconds. Returns at once
// if the word is not `value`.
void wait_on(const void* word, std::uint32_t value, std::uint64_t ns) noexcept;
void wake(const void* word) noexcept;

// A file system: its size, and how much of it this user may still write. 0 if unknown.
struct Space {
  std::uint64_t bytes;
  std::uint64_t free;
};
Space space_of(const char* directory) noexcept;

// On how many processors this process may run; at least 1.
std::uint32_t processors() noexcept;

}  // namespace tare::recorder
