// The numbers to which a query is restricted: of ranks, worlds or communicators.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace tare::reader {

using Wanted = std::optional<std::vector<std::int32_t>>;  // nothing: no restriction

// Must be called before holds(), which is a binary search because a query may name 100,000 ranks.
inline void sort(Wanted& wanted) {
  if (wanted) std::sort(wanted->begin(), wanted->end());
}

inline bool holds(const Wanted& wanted, std::int32_t number) {
  return !wanted || std::binary_search(wanted->begin(), wanted->end(), number);
}

}  // namespace tare::reader
