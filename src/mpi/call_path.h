// The call path of an MPI call: return addresses, innermost first.
#pragma once

#include <cstdint>

#include "format/definition.h"
#include "mpi/path_memo.h"
#include "mpi/unwind.h"

namespace tare::mpi {

// How many frames a path has (TARE_STACK): 4 unless the user says otherwise. With 1 it is the return address alone.
[[gnu::visibility("hidden")]] extern unsigned stack_frames;
void choose_stack_frames() noexcept;

struct CallPath {
  std::uint64_t frames[format::max_frames];  // return addresses, or positions in Python code
  unsigned count;
  std::uint16_t flags;  // format::SiteFlags

  void add(std::uint64_t frame) noexcept { frames[count++] = frame; }
  // Equal paths have equal keys. Never 0.
  std::uint64_t key() const noexcept;
};

// Walks up from `caller`: the innermost `wanted` frames, and the first one in the program itself if it is not among
// them. Frames of language bindings are left out, those that start a thread or the program end it. Adds what it has
// read to `read`.
void walk(const Frame& caller, const Stack& stack, unsigned wanted, CallPath& out, PathMemo::Builder& read) noexcept;

}  // namespace tare::mpi
