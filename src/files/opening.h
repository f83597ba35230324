// The path of calls that open files.
#pragma once

#include <fcntl.h>
#include <stdio.h>

#include <cstdint>

#include "files/described.h"
#include "recorder/errno_guard.h"

namespace tare::files {

// The descriptor that a call has returned, or that of the stream that it has returned. Negative: it has failed, or the
// stream is not one of a file.
inline int descriptor_of(int descriptor) noexcept { return descriptor; }
inline int descriptor_of(FILE* stream) noexcept {
  const recorder::ErrnoGuard guard;
  return stream == nullptr ? -1 : fileno_unlocked(stream);
}

// Where the descriptor of a stream comes from: the call opens a file, or the stream is made of an open one.
enum class Opens : std::uint8_t { file, stream };

// Measures real(), a call of the function made in the frame `caller`, which opens a file with these flags of open().
// Also of a call that is not measured: whatever was known of the descriptor is of another file.
template <Function function, format::FileInterface interface, Opens opens = Opens::file, class Real>
[[gnu::always_inline]] inline auto open_with(const stack::Frame& caller, int flags, Real real) {
  if (!is_on) [[likely]]
    return real();
  int descriptor = -1;
  bool is_counted = false;
  const auto result = measure<function>(
      caller, {}, real,
      [&](auto, std::uint64_t error) {
        return Described<3>{format::no_bytes, {number_of(descriptor), error, number_of(flags)}};
      },
      [&](const stack::Thread& thread, const Span& span, auto made) {
        is_counted = true;
        descriptor = descriptor_of(made);
        OpenFile* file = nullptr;
        if (descriptor >= 0) file = opens == Opens::file ? opened(descriptor) : open_file(descriptor, span.leave);
        count_other(thread, span, format::FileAccess::open, interface, file, has_failed(made));
      });
  if (!is_counted && opens == Opens::file) release(closing(descriptor_of(result)));
  return result;
}

}  // namespace tare::files
