#include "recorder/budget/common_shares.h"

#include <algorithm>
#include <cmath>

namespace tare::recorder {
namespace {

constexpr double one = 65535;

constexpr std::uint32_t spell_of(std::uint64_t word) noexcept { return static_cast<std::uint32_t>(word >> 32); }
constexpr std::uint64_t traced_of(std::uint64_t word) noexcept { return word >> 16 & 0xffff; }
constexpr std::uint64_t measured_of(std::uint64_t word) noexcept { return word & 0xffff; }
constexpr std::uint64_t word_of(std::uint32_t spell, std::uint64_t traced, std::uint64_t measured) noexcept {
  return std::uint64_t{spell} << 32 | traced << 16 | measured;
}
// Rounded up, so that a small share does not become none.
std::uint64_t units(double share) noexcept {
  return static_cast<std::uint64_t>(std::ceil(std::clamp(share, 0.0, 1.0) * one));
}

}  // namespace

void CommonShares::offer(std::uint32_t spell, Governor::Shares shares) noexcept {
  std::atomic<std::uint64_t>& word = words_[spell % slots];
  const std::uint64_t traced = units(shares.traced), measured = units(shares.measured);
  std::uint64_t found = word.load(std::memory_order_relaxed);
  std::uint64_t least = 0;
  do {
    least = spell_of(found) != spell
                ? word_of(spell, traced, measured)
                : word_of(spell, std::min(traced, traced_of(found)), std::min(measured, measured_of(found)));
  } while (!word.compare_exchange_weak(found, least, std::memory_order_acq_rel, std::memory_order_relaxed));
}

Governor::Shares CommonShares::of(std::uint32_t spell) const noexcept {
  const std::uint64_t word = words_[spell % slots].load(std::memory_order_acquire);
  if (spell_of(word) != spell) return {1, 1};
  return {static_cast<double>(traced_of(word)) / one, static_cast<double>(measured_of(word)) / one};
}

}  // namespace tare::recorder
