// The functions that this library exports ahead of the C library's. A call that is not measured costs a jump.
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstdint>
#include <tuple>

#include "files/measure.h"

namespace tare::files {
namespace {

// A function below this library. It is not looked up at a call, which may be in a signal handler or in the child of
// vfork. Before the constructors of this library have run, system calls take its place.
template <long number, class Result, class... Parameters>
class Next {
 public:
  void find(const char* name) noexcept { found_ = reinterpret_cast<Result (*)(Parameters...)>(dlsym(RTLD_NEXT, name)); }
  [[gnu::always_inline]] Result operator()(Parameters... parameters) const {
    return found_ != nullptr ? found_(parameters...) : static_cast<Result>(syscall(number, parameters...));
  }

 private:
  Result (*found_)(Parameters...) = nullptr;
};

constinit Next<SYS_read, ssize_t, int, void*, std::size_t> next_read;
constinit Next<SYS_write, ssize_t, int, const void*, std::size_t> next_write;
constinit Next<SYS_pread64, ssize_t, int, void*, std::size_t, off64_t> next_pread;
constinit Next<SYS_pwrite64, ssize_t, int, const void*, std::size_t, off64_t> next_pwrite;
constinit Next<SYS_fsync, int, int> next_fsync;
constinit Next<SYS_fdatasync, int, int> next_fdatasync;
constinit Next<SYS_msync, int, void*, std::size_t, int> next_msync;
constinit Next<SYS_sync_file_range, int, int, off64_t, off64_t, unsigned> next_sync_file_range;

[[gnu::constructor]] void find_next() noexcept {
  next_read.find("read");
  next_write.find("write");
  next_pread.find("pread64");
  next_pwrite.find("pwrite64");
  next_fsync.find("fsync");
  next_fdatasync.find("fdatasync");
  next_msync.find("msync");
  next_sync_file_range.find("sync_file_range");
}

template <std::size_t count>
struct Described {
  std::uint64_t bytes;
  std::uint64_t arguments[count];
};

// Descriptors are not negative, unless the call fails.
std::uint64_t number_of(int descriptor) noexcept { return static_cast<std::uint32_t>(descriptor); }

// What a call that moves bytes has ended with.
std::uint64_t bytes_of(ssize_t result) noexcept {
  return result < 0 ? format::no_bytes : static_cast<std::uint64_t>(result);
}

// Calls of functions that move bytes without an offset.
template <Function function, class Next, class Buffer>
[[gnu::always_inline]] inline ssize_t move(const stack::Frame& caller, const Next& next, int descriptor, Buffer* buffer,
                                           std::size_t bytes) {
  if (!is_on) [[likely]]
    return next(descriptor, buffer, bytes);
  return measure<function>(
      caller, [&]() __attribute__((always_inline)) { return next(descriptor, buffer, bytes); },
      [&](ssize_t result, std::uint64_t error) {
        return Described<3>{bytes_of(result), {bytes_of(result), number_of(descriptor), error}};
      });
}

// The same with an offset.
template <Function function, class Next, class Buffer>
[[gnu::always_inline]] inline ssize_t move_at(const stack::Frame& caller, const Next& next, int descriptor,
                                              Buffer* buffer, std::size_t bytes, off64_t offset) {
  if (!is_on) [[likely]]
    return next(descriptor, buffer, bytes, offset);
  return measure<function>(
      caller, [&]() __attribute__((always_inline)) { return next(descriptor, buffer, bytes, offset); },
      [&](ssize_t result, std::uint64_t error) {
        return Described<4>{bytes_of(result),
                            {bytes_of(result), number_of(descriptor), error, static_cast<std::uint64_t>(offset)}};
      });
}

// Calls that wait until the whole file is stored.
template <Function function, class Next>
[[gnu::always_inline]] inline int sync_all(const stack::Frame& caller, const Next& next, int descriptor) {
  if (!is_on) [[likely]]
    return next(descriptor);
  return measure<function>(
      caller, [&]() __attribute__((always_inline)) { return next(descriptor); },
      [&](int, std::uint64_t error) {
        return Described<2>{format::no_bytes, {number_of(descriptor), error}};
      });
}

}  // namespace
}  // namespace tare::files

using tare::files::Function;
using tare::format::no_bytes;

#define TARE_EXPORT [[gnu::visibility("default")]]

// Not noexcept: they are cancellation points, and a thread that is cancelled unwinds its stack.
extern "C" {

TARE_EXPORT ssize_t read(int descriptor, void* buffer, std::size_t bytes) {
  return tare::files::move<Function::read>(TARE_CALLER, tare::files::next_read, descriptor, buffer, bytes);
}
TARE_EXPORT ssize_t write(int descriptor, const void* buffer, std::size_t bytes) {
  return tare::files::move<Function::write>(TARE_CALLER, tare::files::next_write, descriptor, buffer, bytes);
}
TARE_EXPORT ssize_t pread64(int descriptor, void* buffer, std::size_t bytes, off64_t offset) {
  return tare::files::move_at<Function::pread>(TARE_CALLER, tare::files::next_pread, descriptor, buffer, bytes, offset);
}
TARE_EXPORT ssize_t pread(int descriptor, void* buffer, std::size_t bytes, off_t offset) {
  return tare::files::move_at<Function::pread>(TARE_CALLER, tare::files::next_pread, descriptor, buffer, bytes, offset);
}
TARE_EXPORT ssize_t pwrite64(int descriptor, const void* buffer, std::size_t bytes, off64_t offset) {
  return tare::files::move_at<Function::pwrite>(TARE_CALLER, tare::files::next_pwrite, descriptor, buffer, bytes,
                                                offset);
}
TARE_EXPORT ssize_t pwrite(int descriptor, const void* buffer, std::size_t bytes, off_t offset) {
  return tare::files::move_at<Function::pwrite>(TARE_CALLER, tare::files::next_pwrite, descriptor, buffer, bytes,
                                                offset);
}

TARE_EXPORT int fsync(int descriptor) {
  return tare::files::sync_all<Function::fsync>(TARE_CALLER, tare::files::next_fsync, descriptor);
}
TARE_EXPORT int fdatasync(int descriptor) {
  return tare::files::sync_all<Function::fdatasync>(TARE_CALLER, tare::files::next_fdatasync, descriptor);
}
TARE_EXPORT int msync(void* memory, std::size_t length, int flags) {
  using namespace tare::files;
  if (!is_on) [[likely]]
    return next_msync(memory, length, flags);
  return measure<Function::msync>(
      TARE_CALLER, [&]() __attribute__((always_inline)) { return next_msync(memory, length, flags); },
      [&](int, std::uint64_t error) {
        return Described<2>{no_bytes, {length, error}};
      });
}
TARE_EXPORT int sync_file_range(int descriptor, off64_t offset, off64_t length, unsigned flags) {
  using namespace tare::files;
  if (!is_on) [[likely]]
    return next_sync_file_range(descriptor, offset, length, flags);
  return measure<Function::sync_file_range>(
      TARE_CALLER,
      [&]() __attribute__((always_inline)) { return next_sync_file_range(descriptor, offset, length, flags); },
      [&](int, std::uint64_t error) {
        return Described<4>{
            no_bytes,
            {number_of(descriptor), error, static_cast<std::uint64_t>(offset), static_cast<std::uint64_t>(length)}};
      });
}
}
