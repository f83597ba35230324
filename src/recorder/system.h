// System calls for code inside the measured program: none of them is a cancellation point, allocates, or
// leaves a trace in errno (see ErrnoGuard).
#pragma once

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace tare::recorder {

// Restores errno: the program must not see what tare's own calls did to it.
class ErrnoGuard {
 public:
  ErrnoGuard() noexcept : saved_(errno) {}
  ~ErrnoGuard() { errno = saved_; }
  ErrnoGuard(const ErrnoGuard&) = delete;
  ErrnoGuard& operator=(const ErrnoGuard&) = delete;

 private:
  int saved_;
};

// A lock for rare paths. Never held across a call into the loader, MPI or the program.
class SpinLock {
 public:
  void lock() noexcept;
  void unlock() noexcept { held_.store(false, std::memory_order_release); }
  // In a forked child the owner may not exist any more.
  void reset() noexcept { held_.store(false, std::memory_order_relaxed); }

 private:
  std::atomic<bool> held_{false};
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

// Appends to a file that exists, in one write if the system takes it whole. False, with errno, if any byte is missing.
// What has the name must be ours, here and in map_file(): a regular file of this user, or of whose the directory is.
bool append_file(const char* path, const char* data, std::size_t bytes) noexcept;

// Creates an empty file unless it exists; true if this call created it. It is for this user alone, and, after
// open_to_group(), for a group to read.
bool create_file(const char* path) noexcept;
void open_to_group(const char* number) noexcept;  // nullptr: to none

// Extends a file to `bytes` bytes with memory behind it reserved, so that touching the mapping cannot fault
// on a full disk, and maps [offset, offset + length) shared. nullptr on failure.
void* map_file(const char* path, std::size_t offset, std::size_t length) noexcept;

// Zeroed private memory, a whole number of pages; nullptr on failure.
void* map_memory(std::size_t bytes) noexcept;
void unmap_memory(void* memory, std::size_t bytes) noexcept;

// Whether there is memory at an aligned word's address that can be read.
bool is_readable(std::uintptr_t address) noexcept;

// Sleeps until somebody wakes those who sleep on the word, at most `ns` nanoseconds; not if the word is not `value`.
// Also across processes that map it.
void wait_on(const void* word, std::uint32_t value, std::uint64_t ns) noexcept;
void wake(const void* word) noexcept;

// Bytes that a file system has left for this user; 0 if unknown.
std::uint64_t free_bytes(const char* directory) noexcept;

// One line on stderr: "tare: <text>". For the failures after which the library only forwards.
void complain(const char* text) noexcept;

}  // namespace tare::recorder
