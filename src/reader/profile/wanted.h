// Numbers that a question is restricted to: ranks, worlds, communicators.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace tare::reader {

using Wanted = std::optional<std::vector<std::int32_t>>;  // none: all

// To be called once, before holds(): a question may name 100,000 ranks, and be put to as many processes.
inline void sort(Wanted& wanted) {
  if (wanted) std::sort(wanted->begin(), wanted->end());
}

inline bool holds(const Wanted& wanted, std::int32_t number) {
  return !wanted || std::binary_search(wanted->begin(), wanted->end(), number);
}

}  // namespace tare::reader
