// The definitions of one kind of a process, by number.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "reader/model/number_map.h"

namespace tare::reader {

// Like a map, but iterates in the order in which numbers were first defined, and needs two blocks of memory, because a
// run has many thousands of these tables. Iterators and references are valid until the next new number.
template <typename T>
class NumberTable {
 public:
  using Entries = std::vector<std::pair<std::uint32_t, T>>;

  // The entry of that number. A new number gets T{}.
  T& operator[](std::uint32_t number) {
    std::int32_t at = places_.find(number);
    if (at < 0) {
      at = static_cast<std::int32_t>(entries_.size());
      entries_.emplace_back(number, T{});
      places_.set(number, at);
    }
    return entries_[static_cast<std::size_t>(at)].second;
  }
  typename Entries::const_iterator find(std::uint32_t number) const {
    const std::int32_t at = places_.find(number);
    return at < 0 ? entries_.end() : entries_.begin() + at;
  }
  typename Entries::const_iterator begin() const { return entries_.begin(); }
  typename Entries::const_iterator end() const { return entries_.end(); }
  std::size_t size() const { return entries_.size(); }
  // Removes all entries. The memory is kept.
  void clear() {
    entries_.clear();
    places_.clear();
  }

 private:
  Entries entries_;
  NumberMap places_;
};

}  // namespace tare::reader
