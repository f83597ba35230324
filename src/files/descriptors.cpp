// The functions that open, close, duplicate and move descriptors, and that this library exports ahead of the C
// library's.
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdarg>

#include "files/described.h"
#include "files/opening.h"
#include "recorder/next.h"

namespace tare::files {
namespace {

using format::FileAccess;
using format::FileInterface;
using recorder::Next;
using recorder::NextOfLibrary;

constinit NextOfLibrary<int, const char*, int, mode_t> next_open{"open64"};
constinit NextOfLibrary<int, const char*, mode_t> next_creat{"creat64"};
constinit Next<SYS_openat, int, int, const char*, int, mode_t> next_openat{"openat64"};
constinit NextOfLibrary<int, const char*, int> next_open_2{"__open64_2"};
constinit NextOfLibrary<int, int, const char*, int> next_openat_2{"__openat64_2"};
constinit Next<SYS_close, int, int> next_close{"close"};
constinit Next<SYS_close_range, int, unsigned, unsigned, int> next_close_range{"close_range"};
constinit NextOfLibrary<void, int> next_closefrom{"closefrom"};
constinit Next<SYS_lseek, off64_t, int, off64_t, int> next_lseek{"lseek64"};
constinit Next<SYS_dup, int, int> next_dup{"dup"};
constinit NextOfLibrary<int, int, int> next_dup2{"dup2"};
constinit Next<SYS_dup3, int, int, int, int> next_dup3{"dup3"};
constinit Next<SYS_fcntl, int, int, int, void*> next_fcntl{"fcntl64"};

[[gnu::constructor]] void find_next() noexcept {
  recorder::find_all(next_open, next_creat, next_openat, next_open_2, next_openat_2, next_close, next_close_range,
                     next_closefrom, next_lseek, next_dup, next_dup2, next_dup3, next_fcntl);
}

int duplicated_to(int from, int result) noexcept {
  if (is_on && result >= 0) duplicated(from, result);
  return result;
}

// The mode that follows flags that make a file.
mode_t mode_of(int flags, va_list arguments) noexcept {
  // clang-tidy does not see that the callers have begun the list.
  // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized)
  return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(arguments, mode_t) : 0;
}

off64_t seek(const stack::Frame& caller, int descriptor, off64_t offset, int whence) noexcept {
  if (!is_on) [[likely]]
    return next_lseek(descriptor, offset, whence);
  return measure<Function::lseek>(
      caller, {descriptor}, [&]() __attribute__((always_inline)) { return next_lseek(descriptor, offset, whence); },
      [&](off64_t result, std::uint64_t error) {
        return Described<5>{format::no_bytes,
                            {number_of(descriptor), error, static_cast<std::uint64_t>(offset),
                             static_cast<std::uint64_t>(whence), static_cast<std::uint64_t>(result)}};
      },
      [&](const stack::Thread& thread, const Span& span, off64_t result) {
        OpenFile* file = open_file(descriptor, span.leave);
        if (file != nullptr && result >= 0) moved_to(*file, static_cast<std::uint64_t>(result));
        count_other(thread, span, FileAccess::seek, FileInterface::posix, file, result < 0);
      });
}

int control(int descriptor, int command, void* argument) {
  const int result = next_fcntl(descriptor, command, argument);
  if (!is_on || result < 0) return result;
  if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) duplicated(descriptor, result);
  if (command == F_SETFL) set_appends(descriptor, (reinterpret_cast<std::uintptr_t>(argument) & O_APPEND) != 0);
  return result;
}

}  // namespace
}  // namespace tare::files

using namespace tare::files;
using tare::format::FileAccess;
using tare::format::FileInterface;

#define TARE_REAL(call) \
  [&]() __attribute__((always_inline)) { return call; }

// Those that are cancellation points are not noexcept: a thread that is cancelled unwinds its stack.
extern "C" {

#define TARE_OPEN(name)                                                                              \
  TARE_EXPORT int name(const char* path, int flags, ...) {                                           \
    va_list arguments;                                                                               \
    va_start(arguments, flags);                                                                      \
    const mode_t mode = mode_of(flags, arguments);                                                   \
    va_end(arguments);                                                                               \
    return open_with<Function::open, FileInterface::posix>(TARE_CALLER, flags,                       \
                                                           TARE_REAL(next_open(path, flags, mode))); \
  }
TARE_OPEN(open)
TARE_OPEN(open64)
#undef TARE_OPEN
#define TARE_OPEN(name)                                                                                             \
  TARE_EXPORT int name(int directory, const char* path, int flags, ...) {                                           \
    va_list arguments;                                                                                              \
    va_start(arguments, flags);                                                                                     \
    const mode_t mode = mode_of(flags, arguments);                                                                  \
    va_end(arguments);                                                                                              \
    return open_with<Function::openat, FileInterface::posix>(TARE_CALLER, flags,                                    \
                                                             TARE_REAL(next_openat(directory, path, flags, mode))); \
  }
TARE_OPEN(openat)
TARE_OPEN(openat64)
#undef TARE_OPEN
#define TARE_CREATE(name)                                                                              \
  TARE_EXPORT int name(const char* path, mode_t mode) {                                                \
    return open_with<Function::creat, FileInterface::posix>(TARE_CALLER, O_WRONLY | O_CREAT | O_TRUNC, \
                                                            TARE_REAL(next_creat(path, mode)));        \
  }
TARE_CREATE(creat)
TARE_CREATE(creat64)
#undef TARE_CREATE
#define TARE_OPEN(name)                                                                                              \
  TARE_EXPORT int name(const char* path, int flags) {                                                                \
    return open_with<Function::open, FileInterface::posix>(TARE_CALLER, flags, TARE_REAL(next_open_2(path, flags))); \
  }
TARE_OPEN(__open_2)
TARE_OPEN(__open64_2)
#undef TARE_OPEN
#define TARE_OPEN(name)                                                                                         \
  TARE_EXPORT int name(int directory, const char* path, int flags) {                                            \
    return open_with<Function::openat, FileInterface::posix>(TARE_CALLER, flags,                                \
                                                             TARE_REAL(next_openat_2(directory, path, flags))); \
  }
TARE_OPEN(__openat_2)
TARE_OPEN(__openat64_2)
#undef TARE_OPEN

TARE_EXPORT int close(int descriptor) {
  if (!is_on) [[likely]]
    return next_close(descriptor);
  OpenFile* file = closing(descriptor);
  const int result = measure<Function::close>(
      TARE_CALLER, {-1, file}, TARE_REAL(next_close(descriptor)),
      [&](int, std::uint64_t error) { return described(descriptor, error); },
      [&](const tare::stack::Thread& thread, const Span& span, int failed) {
        if (file != nullptr) count_other(thread, span, FileAccess::close, FileInterface::posix, file, failed < 0);
      });
  release(file);
  return result;
}
TARE_EXPORT int close_range(unsigned first, unsigned last, int flags) noexcept {
  if (is_on && flags == 0) closing_range(first, last);
  return next_close_range(first, last, flags);
}
TARE_EXPORT void closefrom(int first) noexcept {
  if (is_on && first >= 0) closing_range(static_cast<unsigned>(first), UINT32_MAX);
  next_closefrom(first);
}

TARE_EXPORT int dup(int descriptor) noexcept { return duplicated_to(descriptor, next_dup(descriptor)); }
TARE_EXPORT int dup2(int from, int to) noexcept { return duplicated_to(from, next_dup2(from, to)); }
TARE_EXPORT int dup3(int from, int to, int flags) noexcept { return duplicated_to(from, next_dup3(from, to, flags)); }

#define TARE_CONTROL(name)                                 \
  TARE_EXPORT int name(int descriptor, int command, ...) { \
    va_list arguments;                                     \
    va_start(arguments, command);                          \
    void* argument = va_arg(arguments, void*);             \
    va_end(arguments);                                     \
    return control(descriptor, command, argument);         \
  }
TARE_CONTROL(fcntl)
TARE_CONTROL(fcntl64)
#undef TARE_CONTROL

TARE_EXPORT off_t lseek(int descriptor, off_t offset, int whence) noexcept {
  return seek(TARE_CALLER, descriptor, offset, whence);
}
TARE_EXPORT off64_t lseek64(int descriptor, off64_t offset, int whence) noexcept {
  return seek(TARE_CALLER, descriptor, offset, whence);
}
}
