// Instruction sets beyond the baseline for which a function is compiled a second time.
#pragma once

// Loops over arrays of bytes.
#define TARE_WIDE [[gnu::target("avx2")]]
// Arithmetic of single bits.
#define TARE_BITS [[gnu::target("bmi,bmi2,lzcnt")]]

namespace tare::processor {

inline bool has_wide() noexcept { return __builtin_cpu_supports("avx2") != 0; }
// All processors with AVX2 have LZCNT.
inline bool has_bits() noexcept {
  return __builtin_cpu_supports("bmi") != 0 && __builtin_cpu_supports("bmi2") != 0 && has_wide();
}

}  // namespace tare::processor
