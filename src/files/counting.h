// Counts calls that have ended in the table of files, and notes on which file they were. All of it is of the thread
// that has made the call, which is in tare's own code or in the call.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "files/open_files.h"
#include "stack/thread.h"

namespace tare::files {

enum class Direction : std::uint8_t { read = 0, write = 1 };

// The object that rows of the profile have: files have no rows of their own there, as they have a table.
inline constexpr std::uint32_t rows_of_all_files = 0;

// A call that has ended: when, in ticks.
struct Span {
  std::uint64_t enter;
  std::uint64_t leave;
};

// Reads or writes through POSIX. `result`: the bytes that were moved; negative: the call failed.
template <Direction direction>
void count_access(const stack::Thread& thread, const Span& span, int descriptor, ssize_t result) noexcept;
// The same at an offset.
template <Direction direction>
void count_access_at(const stack::Thread& thread, const Span& span, int descriptor, ssize_t result,
                     std::uint64_t offset) noexcept;
// The same through stdio, of a stream with that descriptor; negative: it has none, and is no file.
template <Direction direction>
void count_stream(const stack::Thread& thread, const Span& span, int descriptor, ssize_t result) noexcept;

// A call that does not move bytes, on an open file; nullptr: it is not known.
void count_other(const stack::Thread& thread, const Span& span, format::FileAccess kind,
                 format::FileInterface interface, OpenFile* file, bool has_failed) noexcept;

}  // namespace tare::files
