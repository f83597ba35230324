// Memory for what a process keeps until it ends, such as names. It is mapped in blocks, up to a limit, and never freed.
#pragma once

#include <algorithm>
#include <cstddef>

#include "recorder/system.h"

namespace tare::recorder {

// Zero-initialised. Not thread-safe: its user holds a lock.
template <std::size_t max_bytes>
class PermanentMemory {
 public:
  // Memory for `bytes` bytes, aligned to 8; nullptr if the limit is reached or the system has none.
  char* allocate(std::size_t bytes) noexcept {
    bytes = (bytes + 7) / 8 * 8;
    if (bytes > left_) {
      const std::size_t block = std::max(bytes, block_bytes);
      if (mapped_ + block > max_bytes) return nullptr;
      auto* memory = static_cast<char*>(map_memory(block));
      if (memory == nullptr) return nullptr;
      next_ = memory;
      left_ = block;
      mapped_ += block;
    }
    char* memory = next_;
    next_ += bytes;
    left_ -= bytes;
    return memory;
  }

 private:
  static constexpr std::size_t block_bytes = std::size_t{64} << 10;

  char* next_ = nullptr;  // the rest of the newest block
  std::size_t left_ = 0;
  std::size_t mapped_ = 0;
};

}  // namespace tare::recorder
