// The functions that read, write and store, and that this library exports ahead of the C library's. A call that is not
// measured costs a jump.
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "files/described.h"
#include "recorder/next.h"

namespace tare::files {
namespace {

using recorder::Next;
using recorder::NextOfLibrary;

constinit Next<SYS_read, ssize_t, int, void*, std::size_t> next_read{"read"};
constinit Next<SYS_write, ssize_t, int, const void*, std::size_t> next_write{"write"};
constinit Next<SYS_pread64, ssize_t, int, void*, std::size_t, off64_t> next_pread{"pread64"};
constinit Next<SYS_pwrite64, ssize_t, int, const void*, std::size_t, off64_t> next_pwrite{"pwrite64"};
constinit Next<SYS_readv, ssize_t, int, const iovec*, int> next_readv{"readv"};
constinit Next<SYS_writev, ssize_t, int, const iovec*, int> next_writev{"writev"};
constinit NextOfLibrary<ssize_t, int, const iovec*, int, off64_t> next_preadv{"preadv64"};
constinit NextOfLibrary<ssize_t, int, const iovec*, int, off64_t> next_pwritev{"pwritev64"};
constinit NextOfLibrary<ssize_t, int, const iovec*, int, off64_t, int> next_preadv2{"preadv64v2"};
constinit NextOfLibrary<ssize_t, int, const iovec*, int, off64_t, int> next_pwritev2{"pwritev64v2"};
// What programs call that were compiled with _FORTIFY_SOURCE. The last argument is the size of the buffer.
constinit NextOfLibrary<ssize_t, int, void*, std::size_t, std::size_t> next_read_chk{"__read_chk"};
constinit NextOfLibrary<ssize_t, int, void*, std::size_t, off64_t, std::size_t> next_pread_chk{"__pread64_chk"};
constinit Next<SYS_fsync, int, int> next_fsync{"fsync"};
constinit Next<SYS_fdatasync, int, int> next_fdatasync{"fdatasync"};
constinit Next<SYS_msync, int, void*, std::size_t, int> next_msync{"msync"};
constinit Next<SYS_sync_file_range, int, int, off64_t, off64_t, unsigned> next_sync_file_range{"sync_file_range"};

[[gnu::constructor]] void find_next() noexcept {
  recorder::find_all(next_read, next_write, next_pread, next_pwrite, next_readv, next_writev, next_preadv, next_pwritev,
                     next_preadv2, next_pwritev2, next_read_chk, next_pread_chk, next_fsync, next_fdatasync, next_msync,
                     next_sync_file_range);
}

// Calls of functions that move bytes without an offset.
template <Function function, Direction direction, class Real>
[[gnu::always_inline]] inline ssize_t move(const stack::Frame& caller, int descriptor, Real real) {
  if (!is_on) [[likely]]
    return real();
  return measure<function>(
      caller, {descriptor}, real,
      [&](ssize_t result, std::uint64_t error) { return described(result, descriptor, error); },
      [&](const stack::Thread& thread, const Span& span, ssize_t result) {
        count_access<direction>(thread, span, descriptor, result);
      });
}

// The same with an offset.
template <Function function, Direction direction, class Real>
[[gnu::always_inline]] inline ssize_t move_at(const stack::Frame& caller, int descriptor, off64_t offset, Real real) {
  if (!is_on) [[likely]]
    return real();
  return measure<function>(
      caller, {descriptor}, real,
      [&](ssize_t result, std::uint64_t error) {
        return Described<4>{bytes_of(result),
                            {bytes_of(result), number_of(descriptor), error, static_cast<std::uint64_t>(offset)}};
      },
      [&](const stack::Thread& thread, const Span& span, ssize_t result) {
        if (offset < 0)  // of preadv2 and pwritev2: the file's own
          count_access<direction>(thread, span, descriptor, result);
        else
          count_access_at<direction>(thread, span, descriptor, result, static_cast<std::uint64_t>(offset));
      });
}

void count_sync(const stack::Thread& thread, const Span& span, int descriptor, int result) noexcept {
  count_other(thread, span, format::FileAccess::sync, format::FileInterface::posix, open_file(descriptor, span.leave),
              result < 0);
}

// Calls that wait until the whole file is stored.
template <Function function, class Next>
[[gnu::always_inline]] inline int sync_all(const stack::Frame& caller, const Next& next, int descriptor) {
  if (!is_on) [[likely]]
    return next(descriptor);
  return measure<function>(
      caller, {descriptor}, [&]() __attribute__((always_inline)) { return next(descriptor); },
      [&](int, std::uint64_t error) { return described(descriptor, error); },
      [&](const stack::Thread& thread, const Span& span, int result) { count_sync(thread, span, descriptor, result); });
}

}  // namespace
}  // namespace tare::files

using namespace tare::files;
using tare::format::no_bytes;

// What follows is a call of the function below, in place.
#define TARE_REAL(call) \
  [&]() __attribute__((always_inline)) { return call; }

// Not noexcept: they are cancellation points, and a thread that is cancelled unwinds its stack.
extern "C" {

TARE_EXPORT ssize_t read(int descriptor, void* buffer, std::size_t bytes) {
  return move<Function::read, Direction::read>(TARE_CALLER, descriptor,
                                               TARE_REAL(next_read(descriptor, buffer, bytes)));
}
TARE_EXPORT ssize_t __read_chk(int descriptor, void* buffer, std::size_t bytes, std::size_t size) {
  return move<Function::read, Direction::read>(TARE_CALLER, descriptor,
                                               TARE_REAL(next_read_chk(descriptor, buffer, bytes, size)));
}
TARE_EXPORT ssize_t write(int descriptor, const void* buffer, std::size_t bytes) {
  return move<Function::write, Direction::write>(TARE_CALLER, descriptor,
                                                 TARE_REAL(next_write(descriptor, buffer, bytes)));
}
TARE_EXPORT ssize_t readv(int descriptor, const iovec* parts, int count) {
  return move<Function::readv, Direction::read>(TARE_CALLER, descriptor,
                                                TARE_REAL(next_readv(descriptor, parts, count)));
}
TARE_EXPORT ssize_t writev(int descriptor, const iovec* parts, int count) {
  return move<Function::writev, Direction::write>(TARE_CALLER, descriptor,
                                                  TARE_REAL(next_writev(descriptor, parts, count)));
}

#define TARE_READ_AT(name, real)                                                                        \
  TARE_EXPORT ssize_t name(int descriptor, void* buffer, std::size_t bytes, off64_t offset) {           \
    return move_at<Function::pread, Direction::read>(TARE_CALLER, descriptor, offset, TARE_REAL(real)); \
  }
TARE_READ_AT(pread, next_pread(descriptor, buffer, bytes, offset))
TARE_READ_AT(pread64, next_pread(descriptor, buffer, bytes, offset))
#undef TARE_READ_AT
#define TARE_READ_AT(name)                                                                                      \
  TARE_EXPORT ssize_t name(int descriptor, void* buffer, std::size_t bytes, off64_t offset, std::size_t size) { \
    return move_at<Function::pread, Direction::read>(                                                           \
        TARE_CALLER, descriptor, offset, TARE_REAL(next_pread_chk(descriptor, buffer, bytes, offset, size)));   \
  }
TARE_READ_AT(__pread_chk)
TARE_READ_AT(__pread64_chk)
#undef TARE_READ_AT
#define TARE_WRITE_AT(name)                                                                                        \
  TARE_EXPORT ssize_t name(int descriptor, const void* buffer, std::size_t bytes, off64_t offset) {                \
    return move_at<Function::pwrite, Direction::write>(TARE_CALLER, descriptor, offset,                            \
                                                       TARE_REAL(next_pwrite(descriptor, buffer, bytes, offset))); \
  }
TARE_WRITE_AT(pwrite)
TARE_WRITE_AT(pwrite64)
#undef TARE_WRITE_AT

#define TARE_PARTS_AT(name, function, direction)                                                                 \
  TARE_EXPORT ssize_t name(int descriptor, const iovec* parts, int count, off64_t offset) {                      \
    return move_at<Function::function, direction>(TARE_CALLER, descriptor, offset,                               \
                                                  TARE_REAL(next_##function(descriptor, parts, count, offset))); \
  }
TARE_PARTS_AT(preadv, preadv, Direction::read)
TARE_PARTS_AT(preadv64, preadv, Direction::read)
TARE_PARTS_AT(pwritev, pwritev, Direction::write)
TARE_PARTS_AT(pwritev64, pwritev, Direction::write)
#undef TARE_PARTS_AT
#define TARE_PARTS_AT(name, function, direction)                                                                  \
  TARE_EXPORT ssize_t name(int descriptor, const iovec* parts, int count, off64_t offset, int flags) {            \
    return move_at<Function::function, direction>(                                                                \
        TARE_CALLER, descriptor, offset, TARE_REAL(next_##function##2(descriptor, parts, count, offset, flags))); \
  }
TARE_PARTS_AT(preadv2, preadv, Direction::read)
TARE_PARTS_AT(preadv64v2, preadv, Direction::read)
TARE_PARTS_AT(pwritev2, pwritev, Direction::write)
TARE_PARTS_AT(pwritev64v2, pwritev, Direction::write)
#undef TARE_PARTS_AT

TARE_EXPORT int fsync(int descriptor) { return sync_all<Function::fsync>(TARE_CALLER, next_fsync, descriptor); }
TARE_EXPORT int fdatasync(int descriptor) {
  return sync_all<Function::fdatasync>(TARE_CALLER, next_fdatasync, descriptor);
}
// The table of files does not have it: which files lie in the memory is not known.
TARE_EXPORT int msync(void* memory, std::size_t length, int flags) {
  if (!is_on) [[likely]]
    return next_msync(memory, length, flags);
  return measure<Function::msync>(
      TARE_CALLER, {}, TARE_REAL(next_msync(memory, length, flags)),
      [&](int, std::uint64_t error) {
        return Described<2>{no_bytes, {length, error}};
      },
      [](const tare::stack::Thread&, const Span&, int) {});
}
TARE_EXPORT int sync_file_range(int descriptor, off64_t offset, off64_t length, unsigned flags) {
  if (!is_on) [[likely]]
    return next_sync_file_range(descriptor, offset, length, flags);
  return measure<Function::sync_file_range>(
      TARE_CALLER, {descriptor}, TARE_REAL(next_sync_file_range(descriptor, offset, length, flags)),
      [&](int, std::uint64_t error) {
        return Described<4>{
            no_bytes,
            {number_of(descriptor), error, static_cast<std::uint64_t>(offset), static_cast<std::uint64_t>(length)}};
      },
      [&](const tare::stack::Thread& thread, const Span& span, int result) {
        count_sync(thread, span, descriptor, result);
      });
}
}
