// A location in the memory of a test, without a segment.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>

#include "recorder/location.h"

namespace tare::recorder {

class MadeLocation {
 public:
  explicit MadeLocation(std::uint32_t rows = 64, const format::RingShape& ring = {})
      : memory_(std::calloc(1, format::buffer_at(rows) + ring.total() + 64)) {
    auto at = reinterpret_cast<std::uintptr_t>(memory_.get());
    auto* block = reinterpret_cast<format::LocationHeader*>((at + 63) / 64 * 64);
    location.begin(*block, rows, ring.count == 0 ? nullptr : format::buffer_of(block, rows), ring);
  }

  Location location{};

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  std::unique_ptr<void, Free> memory_;
};

}  // namespace tare::recorder
