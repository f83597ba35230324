// Instruction sets beyond the baseline for which a function is compiled a second time: none, the baseline has all.
#pragma once

#define TARE_WIDE
#define TARE_BITS

namespace tare::processor {

inline bool has_wide() noexcept { return false; }
inline bool has_bits() noexcept { return false; }

}  // namespace tare::processor
