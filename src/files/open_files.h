// Which open file a descriptor stands for, and where in it the program is.
//
// Descriptors come from everywhere: they are inherited, made by functions that are not intercepted, and closed by the C
// library itself or by system calls that the program makes on its own. So what is known of one is compared with what
// the system says (fstat) if that was not done for a moment, and a descriptor of which nothing is known is looked up
// (/proc/self/fd) where it is first used. In between, functions that open, close and duplicate descriptors tell.
#pragma once

#include <atomic>
#include <cstdint>

#include "recorder/used_files.h"

namespace tare::files {

inline constexpr std::uint64_t not_known = UINT64_MAX;

// The last access in one direction.
struct LastAccess {
  std::uint64_t offset;
  std::uint64_t end;       // not_known: there was none
  std::uint64_t distance;  // from the one before it
};

// As in POSIX, an open file description: what descriptors share that dup() or fork() has made. Threads may use it at
// the same time: then its members are of several accesses, and the figures that they give (consecutive, sequential,
// strided) are approximate.
struct alignas(64) OpenFile {
  std::uint64_t position;  // where an access without an offset begins; not_known: the system has to be asked
  format::FileUse* use[format::file_interfaces];  // the rows of the last thread
  std::uint32_t file;                             // its entry
  std::uint32_t references;                       // by descriptors, and by a call that closes one
  std::uint32_t unseen;                           // unseen_calls when `position` was set
  bool has_offsets;
  bool appends;      // each write goes to the end of the file
  bool was_written;  // the last access was
  bool has_access;
  LastAccess last[2];  // read, written
  std::uint64_t device;
  std::uint64_t inode;
};

// The descriptor of the call that this thread is in, should the call be left.
[[gnu::visibility("hidden")]] extern constinit thread_local int descriptor_in_call [[gnu::tls_model("initial-exec")]];

// Calls that were not recorded, but may have moved the position of an open file.
[[gnu::visibility("hidden")]] extern constinit std::uint32_t unseen_calls;

struct Descriptor {
  std::atomic<OpenFile*> file;  // nullptr: it is not known
  std::uint64_t checked;        // when the system was last asked about it, in ticks
};
inline constexpr std::uint32_t descriptor_capacity = 4096;  // those from there on are not known

// What every call reads. `descriptors` is nullptr as long as the process does not record.
struct KnownDescriptors {
  Descriptor* descriptors;
  std::uint64_t check_ticks;  // after so many, the system is asked again
};
[[gnu::visibility("hidden")]] extern constinit KnownDescriptors known_descriptors;

// For open_file(): nothing is known of the descriptor, or not since a moment ago. nullptr: not known.
[[gnu::cold, gnu::noinline]] OpenFile* ask_of(int descriptor, std::uint64_t time) noexcept;

// What was known of a descriptor last, which may be another file by now; nullptr: nothing.
[[gnu::always_inline]] inline const OpenFile* last_known_file(int descriptor) noexcept {
  Descriptor* descriptors = known_descriptors.descriptors;
  if (descriptors == nullptr || static_cast<unsigned>(descriptor) >= descriptor_capacity) [[unlikely]]
    return nullptr;
  return descriptors[descriptor].file.load(std::memory_order_acquire);
}

// The open file of a descriptor in use at `time`, in ticks; nullptr: not known.
[[gnu::always_inline]] inline OpenFile* open_file(int descriptor, std::uint64_t time) noexcept {
  const KnownDescriptors known = known_descriptors;
  if (known.descriptors == nullptr || static_cast<unsigned>(descriptor) >= descriptor_capacity) [[unlikely]]
    return nullptr;
  const Descriptor& of = known.descriptors[descriptor];
  OpenFile* file = of.file.load(std::memory_order_acquire);
  if (file == nullptr || time - of.checked > known.check_ticks) [[unlikely]]
    return ask_of(descriptor, time);
  return file;
}

// The number of its entry in the table of files.
[[gnu::always_inline]] inline std::uint32_t entry_of(const OpenFile* file) noexcept {
  return file == nullptr ? format::unknown_file : file->file;
}

// For use_of(): the thread is another one than the last, or there is no row.
[[gnu::noinline]] format::FileUse* new_use_of(OpenFile* file, format::FileInterface interface,
                                              std::uint32_t block) noexcept;

// The row of the open file (nullptr: of files that are not known) for the thread with the location `block`; nullptr:
// there is no table.
[[gnu::always_inline]] inline format::FileUse* use_of(OpenFile* file, format::FileInterface interface,
                                                      std::uint32_t block) noexcept {
  if (file != nullptr) [[likely]] {
    format::FileUse* use =
        std::atomic_ref(file->use[static_cast<std::uint32_t>(interface)]).load(std::memory_order_relaxed);
    if (use != nullptr && use->block == block && use->file == file->file) [[likely]]
      return use;
  }
  return new_use_of(file, interface, block);
}

// The descriptor was just opened. Its open file; nullptr: not known.
OpenFile* opened(int descriptor) noexcept;
// It was duplicated from another one, with which it shares its open file.
void duplicated(int from, int to) noexcept;

// The descriptor is about to be closed: nothing is known of it any more. Its open file, which is kept until release();
// nullptr: it was not known.
OpenFile* closing(int descriptor) noexcept;
void release(OpenFile* file) noexcept;
// The same of all from the first to the last.
void closing_range(unsigned first, unsigned last) noexcept;

// Where the descriptor's open file is, is not known any more, because a call was left or because something else moved
// it.
void lose_position(int descriptor) noexcept;

// For begin_of(): the position is not known.
[[gnu::noinline]] std::uint64_t ask_begin_of(OpenFile& file, int descriptor, std::uint64_t bytes, bool writes) noexcept;

// Where in the file an access begins that has moved `bytes` bytes without an offset; not_known if the file has no
// offsets.
[[gnu::always_inline]] inline std::uint64_t begin_of(OpenFile& file, int descriptor, std::uint64_t bytes,
                                                     bool writes) noexcept {
  const std::uint64_t begin = file.position;
  if (begin == not_known || file.unseen != unseen_calls) [[unlikely]]
    return ask_begin_of(file, descriptor, bytes, writes);
  file.position = begin + bytes;
  return begin;
}
// The file appends from now on, or not.
void set_appends(int descriptor, bool appends) noexcept;
// The position was set.
void moved_to(OpenFile& file, std::uint64_t position) noexcept;

// The process begins to record; a forked child forgets, because what it knows is its parent's.
void begin_open_files() noexcept;
void forget_open_files() noexcept;

}  // namespace tare::files
