#include "files/open_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdio>

#include "recorder/clock.h"
#include "recorder/errno_guard.h"
#include "recorder/inside.h"
#include "recorder/own_process.h"
#include "recorder/segment.h"
#include "recorder/system.h"

namespace tare::files {

constinit std::uint32_t unseen_calls = 0;
constinit KnownDescriptors known_descriptors = {};
constinit thread_local int descriptor_in_call [[gnu::tls_model("initial-exec")]] = -1;

namespace {

constexpr std::uint32_t capacity = descriptor_capacity;
// Between two questions to the system, which then cost less than 0.3 % of the time.
constexpr std::uint64_t check_ns = 250'000;

// Zeroed memory of the process.
struct Known {
  Descriptor descriptors[capacity];
  OpenFile files[capacity];
  std::uint32_t used;   // of `files`
  OpenFile* last_free;  // nullptr: none
  OpenFile* next_free[capacity];
  char link[PATH_MAX];
};

constinit Known* known = nullptr;
constinit recorder::SpinLock lock;  // of what `known` has, but for members of OpenFiles that accesses change

format::FileKind kind_of(int descriptor, mode_t mode) noexcept {
  using format::FileKind;
  if (S_ISREG(mode)) return FileKind::regular;
  if (S_ISDIR(mode)) return FileKind::directory;
  if (S_ISFIFO(mode)) return FileKind::pipe;
  if (S_ISSOCK(mode)) return FileKind::socket;
  if (S_ISCHR(mode)) return isatty(descriptor) != 0 ? FileKind::terminal : FileKind::device;
  return S_ISBLK(mode) ? FileKind::device : FileKind::other;
}

std::uint32_t number_of(const OpenFile& file) noexcept { return static_cast<std::uint32_t>(&file - known->files); }

void drop_locked(OpenFile& file) noexcept {
  if (--file.references != 0) return;
  known->next_free[number_of(file)] = known->last_free;
  known->last_free = &file;
}

// The descriptor stands for another open file, or for none, from now on.
void set_locked(unsigned descriptor, OpenFile* file) noexcept {
  OpenFile* before = known->descriptors[descriptor].file.exchange(file, std::memory_order_acq_rel);
  if (before != nullptr) drop_locked(*before);
}

OpenFile* new_file_locked() noexcept {
  if (OpenFile* file = known->last_free; file != nullptr) {
    known->last_free = known->next_free[number_of(*file)];
    return file;
  }
  return known->used < capacity ? &known->files[known->used++] : nullptr;
}

// Asks the system what the descriptor is.
OpenFile* look_up_locked(int descriptor, std::uint64_t time) noexcept {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) return nullptr;
  char path[32];
  std::snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
  const long bytes = syscall(SYS_readlinkat, AT_FDCWD, path, known->link, sizeof known->link);
  OpenFile* file = new_file_locked();
  if (file == nullptr) return nullptr;
  *file = {};
  file->file = recorder::entry_of({known->link, bytes > 0 ? static_cast<std::uint32_t>(bytes) : 0,
                                   kind_of(descriptor, status.st_mode), status.st_dev, status.st_ino});
  file->position = not_known;
  known->descriptors[descriptor].checked = time;
  file->has_offsets = S_ISREG(status.st_mode);
  file->appends = (syscall(SYS_fcntl, descriptor, F_GETFL) & O_APPEND) != 0;
  file->device = status.st_dev;
  file->inode = status.st_ino;
  for (LastAccess& last : file->last) last.end = not_known;
  file->references = 1;
  set_locked(static_cast<unsigned>(descriptor), file);
  return file;
}

bool is_one_of(int descriptor) noexcept { return known != nullptr && static_cast<unsigned>(descriptor) < capacity; }

// A signal handler may close and duplicate descriptors where it has interrupted what holds the lock. Then the
// descriptor is looked up at its next use; what was known of it is not used again.
bool has_interrupted_tare() noexcept { return tare_inside == recorder::not_to_be_left; }
void forget(unsigned descriptor) noexcept {
  known->descriptors[descriptor].file.store(nullptr, std::memory_order_release);
}

// The child of vfork shares this memory, but not the descriptors.
OpenFile* look_up(int descriptor, std::uint64_t time) noexcept {
  const recorder::ErrnoGuard guard;
  if (!recorder::is_own_process()) return nullptr;
  const recorder::Locked locked(lock);
  return look_up_locked(descriptor, time);
}

// Compares it with what the system says. Another process, or another descriptor, may have moved the position.
[[gnu::noinline]] OpenFile* checked(OpenFile& file, int descriptor, std::uint64_t time) noexcept {
  const recorder::ErrnoGuard guard;
  struct stat status {};
  if (fstat(descriptor, &status) != 0) return &file;  // it was closed while the call went on
  if (status.st_dev != file.device || status.st_ino != file.inode) return look_up(descriptor, time);
  known->descriptors[descriptor].checked = time;
  file.position = not_known;
  return &file;
}

}  // namespace

OpenFile* ask_of(int descriptor, std::uint64_t time) noexcept {
  if (!is_one_of(descriptor)) return nullptr;
  OpenFile* file = known->descriptors[descriptor].file.load(std::memory_order_acquire);
  return file == nullptr ? look_up(descriptor, time) : checked(*file, descriptor, time);
}

format::FileUse* new_use_of(OpenFile* file, format::FileInterface interface, std::uint32_t block) noexcept {
  if (file == nullptr) return recorder::use_of(format::unknown_file, interface, block);
  format::FileUse* use = recorder::use_of(file->file, interface, block);
  std::atomic_ref(file->use[static_cast<std::uint32_t>(interface)]).store(use, std::memory_order_relaxed);
  return use;
}

OpenFile* opened(int descriptor) noexcept {
  if (!is_one_of(descriptor) || !recorder::is_own_process()) return nullptr;
  const recorder::ErrnoGuard guard;
  const recorder::Locked locked(lock);
  OpenFile* file = look_up_locked(descriptor, recorder::now());
  if (file == nullptr) set_locked(static_cast<unsigned>(descriptor), nullptr);
  return file;
}

void duplicated(int from, int to) noexcept {
  if (from == to || !is_one_of(to)) return;
  const bool interrupts = has_interrupted_tare();
  const recorder::OwnCode own_code;
  if (!recorder::is_own_process()) return;
  if (interrupts) return forget(static_cast<unsigned>(to));
  const recorder::Locked locked(lock);
  OpenFile* file = is_one_of(from) ? known->descriptors[from].file.load(std::memory_order_relaxed) : nullptr;
  if (file != nullptr) ++file->references;
  set_locked(static_cast<unsigned>(to), file);
}

OpenFile* closing(int descriptor) noexcept {
  if (!is_one_of(descriptor)) return nullptr;
  const Descriptor& of = known->descriptors[descriptor];
  if (of.file.load(std::memory_order_relaxed) == nullptr) return nullptr;
  const bool interrupts = has_interrupted_tare();
  const recorder::OwnCode own_code;
  if (!recorder::is_own_process()) return nullptr;
  if (interrupts) {
    forget(static_cast<unsigned>(descriptor));
    return nullptr;
  }
  const recorder::Locked locked(lock);
  OpenFile* file = of.file.load(std::memory_order_relaxed);
  if (file == nullptr) return nullptr;
  ++file->references;
  set_locked(static_cast<unsigned>(descriptor), nullptr);
  return file;
}

void release(OpenFile* file) noexcept {
  if (file == nullptr) return;
  const recorder::OwnCode own_code;
  const recorder::Locked locked(lock);
  drop_locked(*file);
}

void closing_range(unsigned first, unsigned last) noexcept {
  if (known == nullptr) return;
  const bool interrupts = has_interrupted_tare();
  const recorder::OwnCode own_code;
  if (!recorder::is_own_process()) return;
  last = std::min(last, capacity - 1);
  if (interrupts) {
    for (unsigned descriptor = first; descriptor <= last; ++descriptor) forget(descriptor);
    return;
  }
  const recorder::Locked locked(lock);
  for (unsigned descriptor = first; descriptor <= last; ++descriptor) set_locked(descriptor, nullptr);
}

void lose_position(int descriptor) noexcept {
  if (!is_one_of(descriptor)) return;
  if (OpenFile* file = known->descriptors[descriptor].file.load(std::memory_order_relaxed)) file->position = not_known;
}

std::uint64_t ask_begin_of(OpenFile& file, int descriptor, std::uint64_t bytes, bool writes) noexcept {
  if (!file.has_offsets) return not_known;
  const recorder::ErrnoGuard guard;
  const long end = syscall(SYS_lseek, descriptor, 0, SEEK_CUR);
  if (end < 0 || static_cast<std::uint64_t>(end) < bytes) return not_known;
  file.unseen = unseen_calls;
  file.position = writes && file.appends ? not_known : static_cast<std::uint64_t>(end);
  return static_cast<std::uint64_t>(end) - bytes;
}

void set_appends(int descriptor, bool appends) noexcept {
  if (!is_one_of(descriptor)) return;
  OpenFile* file = known->descriptors[descriptor].file.load(std::memory_order_relaxed);
  if (file == nullptr) return;
  file->appends = appends;
  file->position = not_known;
}

void moved_to(OpenFile& file, std::uint64_t position) noexcept {
  file.position = file.appends ? not_known : position;
  file.unseen = unseen_calls;
}

void begin_open_files() noexcept {
  if (known == nullptr) known = static_cast<Known*>(recorder::map_memory(sizeof(Known)));
  if (known != nullptr) known_descriptors = {known->descriptors, recorder::about_ticks(check_ns)};
}

void forget_open_files() noexcept {
  known_descriptors = {};
  if (known != nullptr) recorder::unmap_memory(known, sizeof(Known));
  known = nullptr;
  lock.reset();
}

}  // namespace tare::files
