// The functions of stdio that this library exports ahead of the C library's: those that open and close streams, and
// those that move more than a character. Functions of single characters (fgetc, putc) are not intercepted, because a
// call of them takes no longer than measuring it.
#include <stdio.h>
#include <unistd.h>

#include <cstdarg>
#include <cstring>

#include "files/described.h"
#include "files/opening.h"
#include "recorder/errno_guard.h"
#include "recorder/next.h"

namespace tare::files {
namespace {

using format::FileAccess;
using format::FileInterface;
using recorder::NextOfLibrary;

constinit NextOfLibrary<FILE*, const char*, const char*> next_fopen{"fopen64"};
constinit NextOfLibrary<FILE*, int, const char*> next_fdopen{"fdopen"};
constinit NextOfLibrary<FILE*, const char*, const char*, FILE*> next_freopen{"freopen64"};
constinit NextOfLibrary<int, FILE*> next_fclose{"fclose"};
constinit NextOfLibrary<int, FILE*> next_pclose{"pclose"};
constinit NextOfLibrary<int, FILE*> next_fflush{"fflush"};
constinit NextOfLibrary<int, FILE*, off64_t, int> next_fseek{"fseeko64"};
constinit NextOfLibrary<void, FILE*> next_rewind{"rewind"};
constinit NextOfLibrary<std::size_t, void*, std::size_t, std::size_t, FILE*> next_fread{"fread"};
constinit NextOfLibrary<std::size_t, void*, std::size_t, std::size_t, FILE*> next_fread_unlocked{"fread_unlocked"};
constinit NextOfLibrary<std::size_t, void*, std::size_t, std::size_t, std::size_t, FILE*> next_fread_chk{"__fread_chk"};
constinit NextOfLibrary<std::size_t, void*, std::size_t, std::size_t, std::size_t, FILE*> next_fread_unlocked_chk{
    "__fread_unlocked_chk"};
constinit NextOfLibrary<std::size_t, const void*, std::size_t, std::size_t, FILE*> next_fwrite{"fwrite"};
constinit NextOfLibrary<std::size_t, const void*, std::size_t, std::size_t, FILE*> next_fwrite_unlocked{
    "fwrite_unlocked"};
constinit NextOfLibrary<char*, char*, int, FILE*> next_fgets{"fgets"};
constinit NextOfLibrary<char*, char*, std::size_t, int, FILE*> next_fgets_chk{"__fgets_chk"};
constinit NextOfLibrary<int, const char*, FILE*> next_fputs{"fputs"};
constinit NextOfLibrary<int, const char*> next_puts{"puts"};
constinit NextOfLibrary<int, FILE*, const char*, va_list> next_vfprintf{"vfprintf"};
constinit NextOfLibrary<int, FILE*, int, const char*, va_list> next_vfprintf_chk{"__vfprintf_chk"};

[[gnu::constructor]] void find_next() noexcept {
  recorder::find_all(next_fopen, next_fdopen, next_freopen, next_fclose, next_pclose, next_fflush, next_fseek,
                     next_rewind, next_fread, next_fread_unlocked, next_fread_chk, next_fread_unlocked_chk, next_fwrite,
                     next_fwrite_unlocked, next_fgets, next_fgets_chk, next_fputs, next_puts, next_vfprintf,
                     next_vfprintf_chk);
}

// The flags of open() that a mode of fopen() stands for.
int flags_of(const char* mode) noexcept {
  if (mode == nullptr) return 0;
  const bool both = std::strchr(mode, '+') != nullptr;
  int flags = both ? O_RDWR : *mode == 'r' ? O_RDONLY : O_WRONLY;
  if (*mode == 'w') flags |= O_CREAT | O_TRUNC;
  if (*mode == 'a') flags |= O_CREAT | O_APPEND;
  if (std::strchr(mode, 'x') != nullptr) flags |= O_EXCL;
  if (std::strchr(mode, 'e') != nullptr) flags |= O_CLOEXEC;
  return flags;
}

// Calls that move bytes. bytes_of_result(result): how many it has moved; negative: it failed. (A result that tells of
// no bytes is of an error, or of the end of the file.)
template <Function function, Direction direction, class Real, class Bytes>
[[gnu::always_inline]] inline auto move(const stack::Frame& caller, FILE* stream, Real real, Bytes bytes_of_result) {
  if (!is_on) [[likely]]
    return real();
  const int descriptor = descriptor_of(stream);
  ssize_t bytes = -1;
  return measure<function>(
      caller, {descriptor}, real, [&](auto, std::uint64_t error) { return described(bytes, descriptor, error); },
      [&](const stack::Thread& thread, const Span& span, auto result) {
        bytes = bytes_of_result(result);
        count_stream<direction>(thread, span, descriptor, bytes);
      },
      [&](auto) { return bytes < 0; });
}

// Whole elements of fread and fwrite.
template <Function function, Direction direction, class Real>
[[gnu::always_inline]] inline std::size_t move_elements(const stack::Frame& caller, std::size_t size, std::size_t count,
                                                        FILE* stream, Real real) {
  const auto moved = [&](ssize_t elements) {
    const bool failed = elements == 0 && size != 0 && count != 0 && ferror_unlocked(stream) != 0;
    return failed ? ssize_t{-1} : static_cast<ssize_t>(static_cast<std::size_t>(elements) * size);
  };
  const auto signed_real = [&]() __attribute__((always_inline)) { return static_cast<ssize_t>(real()); };
  return static_cast<std::size_t>(move<function, direction>(caller, stream, signed_real, moved));
}

template <class Real>
[[gnu::always_inline]] inline char* get_line(const stack::Frame& caller, FILE* stream, Real real) {
  return move<Function::fgets, Direction::read>(caller, stream, real, [&](char* line) {
    if (line == nullptr) return ferror_unlocked(stream) != 0 ? ssize_t{-1} : ssize_t{0};
    return static_cast<ssize_t>(std::strlen(line));
  });
}

ssize_t printed(int result) noexcept { return result < 0 ? ssize_t{-1} : ssize_t{result}; }

template <class Real>
[[gnu::always_inline]] inline int seek(const stack::Frame& caller, FILE* stream, off64_t offset, int whence,
                                       Real real) {
  if (!is_on) [[likely]]
    return real();
  const int descriptor = descriptor_of(stream);
  return measure<Function::fseek>(
      caller, {descriptor}, real,
      [&](int, std::uint64_t error) {
        return Described<4>{
            format::no_bytes,
            {number_of(descriptor), error, static_cast<std::uint64_t>(offset), static_cast<std::uint64_t>(whence)}};
      },
      [&](const stack::Thread& thread, const Span& span, int result) {
        if (descriptor < 0) return;
        lose_position(descriptor);
        count_other(thread, span, FileAccess::seek, FileInterface::stdio, open_file(descriptor, span.leave),
                    result < 0);
      });
}

}  // namespace
}  // namespace tare::files

using namespace tare::files;
using tare::format::FileAccess;
using tare::format::FileInterface;

#define TARE_REAL(call) \
  [&]() __attribute__((always_inline)) { return call; }

// Not noexcept: they are cancellation points, and a thread that is cancelled unwinds its stack.
extern "C" {

#define TARE_OPEN(name)                                                                         \
  TARE_EXPORT FILE* name(const char* path, const char* mode) {                                  \
    return open_with<Function::fopen, FileInterface::stdio>(TARE_CALLER, flags_of(mode),        \
                                                            TARE_REAL(next_fopen(path, mode))); \
  }
TARE_OPEN(fopen)
TARE_OPEN(fopen64)
#undef TARE_OPEN
TARE_EXPORT FILE* fdopen(int descriptor, const char* mode) noexcept {
  return open_with<Function::fdopen, FileInterface::stdio, Opens::stream>(TARE_CALLER, flags_of(mode),
                                                                          TARE_REAL(next_fdopen(descriptor, mode)));
}
#define TARE_OPEN(name)                                                                                     \
  TARE_EXPORT FILE* name(const char* path, const char* mode, FILE* stream) {                                \
    if (is_on) release(closing(descriptor_of(stream)));                                                     \
    return open_with<Function::freopen, FileInterface::stdio>(TARE_CALLER, flags_of(mode),                  \
                                                              TARE_REAL(next_freopen(path, mode, stream))); \
  }
TARE_OPEN(freopen)
TARE_OPEN(freopen64)
#undef TARE_OPEN

TARE_EXPORT int fclose(FILE* stream) {
  if (!is_on) return next_fclose(stream);
  const int descriptor = descriptor_of(stream);
  OpenFile* file = closing(descriptor);
  const int result = measure<Function::fclose>(
      TARE_CALLER, {-1, file}, TARE_REAL(next_fclose(stream)),
      [&](int, std::uint64_t error) { return described(descriptor, error); },
      [&](const tare::stack::Thread& thread, const Span& span, int failed) {
        if (file != nullptr) count_other(thread, span, FileAccess::close, FileInterface::stdio, file, failed < 0);
      });
  release(file);
  return result;
}
// Not measured: most of its time is that of the other process.
TARE_EXPORT int pclose(FILE* stream) {
  if (is_on) release(closing(descriptor_of(stream)));
  return next_pclose(stream);
}
TARE_EXPORT int fflush(FILE* stream) {
  if (!is_on) return next_fflush(stream);
  const int descriptor = descriptor_of(stream);
  return measure<Function::fflush>(
      TARE_CALLER, {descriptor}, TARE_REAL(next_fflush(stream)),
      [&](int, std::uint64_t error) { return described(descriptor, error); },
      [&](const tare::stack::Thread& thread, const Span& span, int result) {
        if (descriptor < 0) return;
        lose_position(descriptor);
        count_other(thread, span, FileAccess::sync, FileInterface::stdio, open_file(descriptor, span.leave),
                    result < 0);
      });
}

TARE_EXPORT int fseek(FILE* stream, long offset, int whence) {
  return seek(TARE_CALLER, stream, offset, whence, TARE_REAL(next_fseek(stream, offset, whence)));
}
TARE_EXPORT int fseeko(FILE* stream, off_t offset, int whence) {
  return seek(TARE_CALLER, stream, offset, whence, TARE_REAL(next_fseek(stream, offset, whence)));
}
TARE_EXPORT int fseeko64(FILE* stream, off64_t offset, int whence) {
  return seek(TARE_CALLER, stream, offset, whence, TARE_REAL(next_fseek(stream, offset, whence)));
}
TARE_EXPORT void rewind(FILE* stream) { seek(TARE_CALLER, stream, 0, SEEK_SET, TARE_REAL((next_rewind(stream), 0))); }

#define TARE_READ(name)                                                                                      \
  TARE_EXPORT std::size_t name(void* to, std::size_t size, std::size_t count, FILE* stream) {                \
    return move_elements<Function::fread, Direction::read>(TARE_CALLER, size, count, stream,                 \
                                                           TARE_REAL(next_##name(to, size, count, stream))); \
  }
TARE_READ(fread)
TARE_READ(fread_unlocked)
#undef TARE_READ
#define TARE_READ(name)                                                                                             \
  TARE_EXPORT std::size_t __##name(void* to, std::size_t room, std::size_t size, std::size_t count, FILE* stream) { \
    return move_elements<Function::fread, Direction::read>(TARE_CALLER, size, count, stream,                        \
                                                           TARE_REAL(next_##name(to, room, size, count, stream)));  \
  }
TARE_READ(fread_chk)
TARE_READ(fread_unlocked_chk)
#undef TARE_READ
#define TARE_WRITE(name)                                                                                         \
  TARE_EXPORT std::size_t name(const void* from, std::size_t size, std::size_t count, FILE* stream) {            \
    return move_elements<Function::fwrite, Direction::write>(TARE_CALLER, size, count, stream,                   \
                                                             TARE_REAL(next_##name(from, size, count, stream))); \
  }
TARE_WRITE(fwrite)
TARE_WRITE(fwrite_unlocked)
#undef TARE_WRITE

TARE_EXPORT char* fgets(char* to, int room, FILE* stream) {
  return get_line(TARE_CALLER, stream, TARE_REAL(next_fgets(to, room, stream)));
}
TARE_EXPORT char* __fgets_chk(char* to, std::size_t size, int room, FILE* stream) {
  return get_line(TARE_CALLER, stream, TARE_REAL(next_fgets_chk(to, size, room, stream)));
}
TARE_EXPORT int fputs(const char* text, FILE* stream) {
  return move<Function::fputs, Direction::write>(
      TARE_CALLER, stream, TARE_REAL(next_fputs(text, stream)),
      [&](int result) { return result < 0 ? ssize_t{-1} : static_cast<ssize_t>(std::strlen(text)); });
}
TARE_EXPORT int puts(const char* text) {
  return move<Function::puts, Direction::write>(TARE_CALLER, stdout, TARE_REAL(next_puts(text)), [&](int result) {
    return result < 0 ? ssize_t{-1} : static_cast<ssize_t>(std::strlen(text) + 1);
  });
}

// What ends in vfprintf or, in programs that were compiled with _FORTIFY_SOURCE, in __vfprintf_chk.
#define TARE_PRINT(function, stream, call) \
  move<Function::function, Direction::write>(TARE_CALLER, stream, TARE_REAL(call), printed)
#define TARE_PRINT_ARGUMENTS(function, stream, call)     \
  va_list arguments;                                     \
  va_start(arguments, format);                           \
  const int result = TARE_PRINT(function, stream, call); \
  va_end(arguments);                                     \
  return result

TARE_EXPORT int fprintf(FILE* stream, const char* format, ...) {
  TARE_PRINT_ARGUMENTS(fprintf, stream, next_vfprintf(stream, format, arguments));
}
TARE_EXPORT int vfprintf(FILE* stream, const char* format, va_list arguments) {
  return TARE_PRINT(fprintf, stream, next_vfprintf(stream, format, arguments));
}
TARE_EXPORT int printf(const char* format, ...) {
  TARE_PRINT_ARGUMENTS(printf, stdout, next_vfprintf(stdout, format, arguments));
}
TARE_EXPORT int vprintf(const char* format, va_list arguments) {
  return TARE_PRINT(printf, stdout, next_vfprintf(stdout, format, arguments));
}
TARE_EXPORT int __fprintf_chk(FILE* stream, int flag, const char* format, ...) {
  TARE_PRINT_ARGUMENTS(fprintf, stream, next_vfprintf_chk(stream, flag, format, arguments));
}
TARE_EXPORT int __vfprintf_chk(FILE* stream, int flag, const char* format, va_list arguments) {
  return TARE_PRINT(fprintf, stream, next_vfprintf_chk(stream, flag, format, arguments));
}
TARE_EXPORT int __printf_chk(int flag, const char* format, ...) {
  TARE_PRINT_ARGUMENTS(printf, stdout, next_vfprintf_chk(stdout, flag, format, arguments));
}
TARE_EXPORT int __vprintf_chk(int flag, const char* format, va_list arguments) {
  return TARE_PRINT(printf, stdout, next_vfprintf_chk(stdout, flag, format, arguments));
}
}
