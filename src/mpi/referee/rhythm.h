// After how many ticks a program does the same again: found from the places and times of its calls.
#pragma once

#include <cstdint>

namespace tare::mpi::referee {

class Rhythm {
 public:
  // To be called at each call. `caller`: where it returns to; `ticks`: how many there were before it.
  void add(const void* caller, std::uint64_t ticks, std::uint64_t now_ns) noexcept;
  // 0: none is known.
  std::uint64_t period() const noexcept;

 private:
  static constexpr unsigned most = 4096;  // ticks that are remembered: the newest
  struct Tick {
    std::uint16_t site;  // the low bits of the caller
    std::uint16_t pace;  // half powers of 2 of the time since the tick before
  };
  std::uint64_t count_ = 0, ticks_ = 0, then_ns_ = 0;
  Tick newest_[most] = {};
};

}  // namespace tare::mpi::referee
