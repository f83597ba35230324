// The call path of an MPI call: return addresses, innermost first.
#pragma once

#include <cstdint>

#include "format/definition.h"
#include "stack/path_memo.h"
#include "stack/unwind.h"

namespace tare::stack {

// The number of frames of a path (TARE_STACK), 4 by default. With 1, a path is the return address alone.
[[gnu::visibility("hidden")]] extern unsigned stack_frames;
void choose_stack_frames() noexcept;

struct CallPath {
  std::uint64_t frames[format::max_frames];  // return addresses, or positions in Python code
  unsigned count;
  std::uint16_t flags;  // format::SiteFlags

  void add(std::uint64_t frame) noexcept { frames[count++] = frame; }
};

// Walks up from `caller`, and returns the innermost `wanted` frames; also the first one in the program itself, if it is
// not among them. Frames of language bindings are left out, and frames that start a thread or the program end the path.
// Adds the words that it has read to `read`.
void walk(const Frame& caller, const Stack& stack, unsigned wanted, CallPath& out, PathMemo::Builder& read) noexcept;

}  // namespace tare::stack
