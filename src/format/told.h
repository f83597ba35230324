// A value that one thread or process writes again and again and others read, also in shared memory and also if the
// writer is dead: a sequence lock whose readers wait for nobody. Of zeros: nothing was told yet.
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
class Told {
  static_assert(std::is_trivially_copyable_v<Value> && sizeof(Value) % sizeof(std::uint64_t) == 0);

 public:
  // One writer at a time.
  void tell(const Value& value) noexcept {
    // Odd while it is written; it is odd already where a writer before died at that.
    const std::uint32_t writing = version_.load(std::memory_order_relaxed) | 1U;
    version_.store(writing, std::memory_order_relaxed);
    const auto words = std::bit_cast<Words>(value);
    // Who sees a new word sees the odd version, too.
    for (std::size_t i = 0; i < words.size(); ++i) words_[i].store(words[i], std::memory_order_release);
    version_.store(writing + 1, std::memory_order_release);
  }

  // As if nothing had been told. For the writer.
  void clear() noexcept { version_.store(0, std::memory_order_relaxed); }

  // False if nothing was told, or if it is being told all the time.
  bool hear(Value& value) const noexcept {
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
