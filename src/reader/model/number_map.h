// Maps the numbers that a process gave to its call sites, communicators and event types to indices in the tables of the
// run.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace tare::reader {

// Numbers that follow one another take four bytes each. Those far above the others are in a hash table: damaged files
// have some, and processes that make many communicators (format/communicator_number.h).
class NumberMap {
 public:
  // The index in the run; -1 if there is none.
  std::int32_t find(std::uint32_t number) const {
    if (number < dense_.size() && dense_[number] >= 0) return dense_[number];
    if (sparse_.empty()) return -1;
    const auto found = sparse_.find(number);
    return found == sparse_.end() ? -1 : found->second;
  }
  void set(std::uint32_t number, std::int32_t of_run) {
    if (number < max_dense && number <= 2 * dense_.size() + largest_step) {
      if (number >= dense_.size()) dense_.resize(number + std::size_t{1}, -1);
      dense_[number] = of_run;
    } else {
      sparse_[number] = of_run;
    }
  }
  // Removes all entries. The memory of the dense part is kept.
  void clear() {
    dense_.clear();
    sparse_.clear();
  }

 private:
  static constexpr std::uint32_t max_dense = 1U << 16;
  static constexpr std::uint32_t largest_step = 1024;

  std::vector<std::int32_t> dense_;
  std::unordered_map<std::uint32_t, std::int32_t> sparse_;
};

}  // namespace tare::reader
