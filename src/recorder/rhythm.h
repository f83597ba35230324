// After how many ticks a program does the same again: found from the places and times of its calls.
#pragma once

#include <cstdint>

namespace tare::recorder {

// Zero-initialised.
class Rhythm {
 public:
  static constexpr unsigned most = 4096;  // ticks that are remembered: the newest

  // To be called at each call. `place`: of the call in the program; `ticks`: how many there were before it.
  void add(std::uintptr_t place, std::uint64_t ticks, std::uint64_t now_ns) noexcept;
  // The least number of ticks after which the places of the calls repeat; or the least multiple of it after which their
  // times repeat, too. 0: no period is known. It takes some 10 ms.
  std::uint64_t period() const noexcept;
  void reset() noexcept { count_ = 0; }

 private:
  struct Tick {
    std::uint16_t place;  // its low bits
    std::uint16_t pace;   // half powers of 2 of the time since the tick before
  };
  const Tick& newest(std::uint64_t back) const noexcept { return newest_[(count_ - 1 - back) % most]; }

  std::uint64_t count_, ticks_, then_ns_;
  Tick newest_[most];
};

}  // namespace tare::recorder
