// The union of two ascending lists of events.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

#include "tared/filters/snapshot.h"

namespace tare::tared {

// The place of each event of `part` in `whole`, which contains all of them.
inline void find_places(std::span<const EventKey> part, std::span<const EventKey> whole,
                        std::vector<std::uint32_t>& places) {
  places.resize(part.size());
  std::uint32_t at = 0;
  for (std::size_t i = 0; i < part.size(); ++i) {
    while (whole[at] != part[i]) ++at;
    places[i] = at;
  }
}

inline std::vector<EventKey> unite_keys(std::span<const EventKey> a, std::span<const EventKey> b) {
  std::vector<EventKey> keys;
  keys.reserve(std::max(a.size(), b.size()));
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(keys));
  return keys;
}

// Moves the `width` numbers of each event to its new place. The others get `fill`.
template <class T>
void spread(std::vector<T>& column, std::span<const std::uint32_t> places, std::size_t size, std::size_t width,
            T fill) {
  std::vector<T> wide(size * width, fill);
  for (std::size_t i = 0; i < places.size(); ++i)
    std::move(column.data() + i * width, column.data() + (i + 1) * width, wide.data() + places[i] * width);
  column.swap(wide);
}

// Adds the events `more` to a table with `width` values for each event, and finds their places in it.
template <class T>
void make_room(std::vector<EventKey>& keys, std::vector<T>& column, std::span<const EventKey> more,
               std::vector<std::uint32_t>& places, std::size_t width) {
  std::vector<EventKey> all = unite_keys(keys, more);
  if (all.size() != keys.size()) {
    find_places(keys, all, places);
    spread(column, places, all.size(), width, T{});
    keys = std::move(all);
  }
  find_places(more, keys, places);
}

}  // namespace tare::tared
