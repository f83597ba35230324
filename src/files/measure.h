// The path of every measured call of a function on files.
//
// A call is the program's own unless it is made within a call of MPI, of which it is a part, or by a signal handler
// that has interrupted tare. Calls that the C library makes itself, as those of stdio, do not come here.
#pragma once

#include <cerrno>
#include <cstdint>
#include <span>

#include "files/counting.h"
#include "files/process.h"
#include "recorder/clock.h"
#include "stack/inside.h"
#include "stack/site.h"

namespace tare::files {

using format::Function;

// A call that has begun.
struct Begun {
  Function function;
  stack::Site site;
  std::uint64_t enter;
};

// What a call works on: a descriptor, or an open file that has none any more. Neither: nothing, or what it is to open.
struct WorksOn {
  int descriptor = -1;
  const OpenFile* file = nullptr;
};

// A call of the function begins in the frame `caller`. Returns its thread, which is then in tare's own code; nullptr if
// the call is not measured.
stack::Thread* begin(Function function, const stack::Frame& caller, WorksOn on, Begun& begun) noexcept;

// The call has ended at `leave`, in the thread. `bytes`: that it has moved; format::no_bytes: none. `arguments`: those
// of its row in functions.toml.
void end(stack::Thread& thread, const Begun& begun, std::uint64_t leave, std::uint64_t bytes,
         std::span<const std::uint64_t> arguments) noexcept;

template <class Number>
bool has_failed(Number result) noexcept {
  return result < 0;
}
template <class Object>
bool has_failed(Object* result) noexcept {
  return result == nullptr;
}

struct Failed {
  bool operator()(auto result) const noexcept { return has_failed(result); }
};

// Measures real(), a call of the function made in the frame `caller` (TARE_CALLER). describe(result, error) returns the
// bytes that it has moved and its arguments, as end() takes them; `error`: errno if the call failed, else 0.
// count(thread, span, result) counts it in the table of files. failed(result), if the result does not say so: whether
// the call has failed, as is known behind count().
template <Function function, class Real, class Describe, class Count, class Fails = Failed>
[[gnu::always_inline]] inline auto measure(const stack::Frame& caller, WorksOn on, Real real, Describe describe,
                                           Count count, Fails failed = {}) {
  Begun begun;
  stack::Thread* thread = begin(function, caller, on, begun);
  if (thread == nullptr) return real();
  const stack::Inside inside;
  const auto result = real();
  const std::uint64_t leave = recorder::now();
  const int number = errno;
  count(*thread, Span{begun.enter, leave}, result);
  const auto [bytes, arguments] = describe(result, failed(result) ? static_cast<std::uint64_t>(number) : 0);
  end(*thread, begun, leave, bytes, arguments);
  errno = number;
  return result;
}

}  // namespace tare::files
