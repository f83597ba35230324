// A value that one thread or process writes repeatedly and others read, also in shared memory, and also if the writer
// has died: a sequence lock whose readers do not wait. If the memory is zero, there is no value yet.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>

namespace tare::format {

template <class Value>
class Published {
  static_assert(std::is_trivially_copyable_v<Value> && sizeof(Value) % sizeof(std::uint64_t) == 0);

 public:
  // Only one writer at a time.
  void publish(const Value& value) noexcept {
    // Odd while the value is written. It is odd already if an earlier writer died in between.
    const std::uint32_t writing = version_.load(std::memory_order_relaxed) | 1U;
    version_.store(writing, std::memory_order_relaxed);
    const auto words = std::bit_cast<Words>(value);
    // A reader that sees a new word also sees the odd version.
    for (std::size_t i = 0; i < words.size(); ++i) words_[i].store(words[i], std::memory_order_release);
    version_.store(writing + 1, std::memory_order_release);
  }

  // For the writer: there is no value any more.
  void clear() noexcept { version_.store(0, std::memory_order_relaxed); }

  // False if there is no value, or if it is written all the time.
  bool read(Value& value) const noexcept {
    constexpr int tries = 16;
    for (int i = 0; i < tries; ++i) {
      const std::uint32_t version = version_.load(std::memory_order_acquire);
      if (version == 0) return false;
      if (version % 2 != 0) continue;
      Words words;
      for (std::size_t k = 0; k < words.size(); ++k) words[k] = words_[k].load(std::memory_order_acquire);
      if (version_.load(std::memory_order_relaxed) != version) continue;
      value = std::bit_cast<Value>(words);
      return true;
    }
    return false;
  }

 private:
  using Words = std::array<std::uint64_t, sizeof(Value) / sizeof(std::uint64_t)>;

  std::atomic<std::uint32_t> version_{0};
  std::array<std::atomic<std::uint64_t>, std::tuple_size_v<Words>> words_{};
};

}  // namespace tare::format
