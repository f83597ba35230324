// Keeps the longest of many intervals, whose length_ns() is known.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tare::reader {

template <typename T>
class Longest {
 public:
  explicit Longest(std::size_t most) : most_(most) {}

  // False: it is shorter than all that are kept, so there is no need to add it.
  bool keeps(std::int64_t length_ns) const { return length_ns >= least_ns_; }
  void add(const T& each) {
    ++count_;
    if (!keeps(length_ns(each))) return;
    kept_.push_back(each);
    if (kept_.size() >= 2 * most_ + 1024) trim();
  }
  // Counts one that is not kept.
  void skip() { ++count_; }
  void add(const Longest& other) {
    const std::uint64_t count = count_ + other.count_;
    for (const T& each : other.kept_) add(each);
    count_ = count;
  }
  std::uint64_t count() const { return count_; }  // of all, also those that are not kept
  // Those that are kept, in any order.
  std::vector<T> take() {
    trim();
    return std::move(kept_);
  }

 private:
  void trim() {
    if (kept_.size() <= most_) return;
    const auto is_longer = [](const T& a, const T& b) { return length_ns(a) > length_ns(b); };
    const auto last = kept_.begin() + static_cast<std::ptrdiff_t>(most_);
    std::nth_element(kept_.begin(), last, kept_.end(), is_longer);
    kept_.erase(last, kept_.end());
    least_ns_ = INT64_MAX;
    for (const T& each : kept_) least_ns_ = std::min(least_ns_, length_ns(each));
  }

  std::size_t most_;
  std::vector<T> kept_;
  std::int64_t least_ns_ = INT64_MIN;
  std::uint64_t count_ = 0;
};

}  // namespace tare::reader
