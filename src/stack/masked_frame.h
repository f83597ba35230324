// The form of a caller that is the key of remembered paths (stack/path_memo.h).
#pragma once

#include <cstdint>

#include "stack/unwind.h"

namespace tare::stack {

// A mask for stack pointers: all ones; or 0 with --stack 1, where paths are return addresses alone and the stack
// pointer does not matter.
[[gnu::visibility("hidden")]] extern std::uintptr_t stack_matters;

inline Frame masked(const Frame& caller) noexcept {
  return {caller.return_address, caller.stack & stack_matters, caller.base};
}

}  // namespace tare::stack
