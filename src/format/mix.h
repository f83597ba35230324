// The finaliser of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014): every
// bit of a word changes about half of the bits of the result.
#pragma once

#include <cstdint>

namespace tare::format {

// What SplitMix64 adds for each number of its sequence: 2^64 divided by the golden ratio.
inline constexpr std::uint64_t golden_gamma = 0x9e3779b97f4a7c15U;

constexpr std::uint64_t mix(std::uint64_t x) noexcept {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

}  // namespace tare::format
