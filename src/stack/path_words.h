// The words of the stack that a call path depends on, in a form that is compared quickly: where each lies above the
// stack pointer, and one fingerprint of all their values. Comparing a path reads one cache line of its own, and no
// value one by one.
//
// The fingerprint is the sum of the values, modulo 2^64, each multiplied by a prime number of its position. If one
// value differs in its lower 62 bits, which addresses do not exceed, the fingerprint differs. If two of the first eight
// differ, so does the fingerprint, unless both differences exceed 2^28 and are in one certain proportion. Otherwise it
// is the same with a probability of about 2^-60. (key_of(), which identifies a path, is a hash of 64 bits, too.)
#pragma once

#include <cstdint>
#include <limits>

#include "stack/unwind.h"

namespace tare::stack {

// Words are compared in groups of this size. The last group is filled up with the last word. Its factors add up. They
// are 1 modulo 16, so that each such sum is divisible by 4 at most: no more than two bits of the value are lost.
inline constexpr unsigned path_group = 4;

constexpr unsigned groups_of(unsigned words) noexcept { return (words + path_group - 1) / path_group; }

// Where a word lies: so many words above the stack pointer.
using NearOffset = std::uint16_t;
using FarOffset = std::uint32_t;

// Whether a word can be found by an offset from the stack pointer.
template <class Offset>
constexpr bool has_offset(const Word& word, std::uintptr_t stack) noexcept {
  const std::uintptr_t distance = word.address - stack;
  return distance % sizeof(std::uintptr_t) == 0 &&
         distance / sizeof(std::uintptr_t) <= std::numeric_limits<Offset>::max();
}
constexpr std::uintptr_t offset_of(const Word& word, std::uintptr_t stack) noexcept {
  return (word.address - stack) / sizeof(std::uintptr_t);
}

// The sums over a group of even and of odd number. value(i) is the value of word i of the group.
template <class Value>
[[gnu::always_inline]] constexpr std::uint64_t even_sum(Value value) noexcept {
  return value(0) * 0x7b9985e1 + value(1) * 0x6f96ecb1 + value(2) * 0x574e4151 + value(3) * 0x52a65c31;
}
template <class Value>
[[gnu::always_inline]] constexpr std::uint64_t odd_sum(Value value) noexcept {
  return value(0) * 0x6692ef51 + value(1) * 0x7b298b91 + value(2) * 0x44b057f1 + value(3) * 0x67974271;
}

// The fingerprint of `groups` groups. value(i) is the value of word i. `base`: the frame pointer if the path depends on
// it, else 0.
template <class Value>
[[gnu::always_inline]] constexpr std::uint64_t fingerprint(std::uintptr_t base, unsigned groups, Value value) noexcept {
  std::uint64_t sum = base;
  for (unsigned group = 0; group < groups; ++group) {
    const auto value_of_group = [&](unsigned i) { return value(group * path_group + i); };
    if (group != 0 && group % 2 == 0) sum *= 0x9e3779b97f4a7c15U;
    sum += group % 2 == 0 ? even_sum(value_of_group) : odd_sum(value_of_group);
  }
  return sum;
}

// The same of the words that lie on the stack now. The memory at the offsets must be mapped.
template <class Offset>
std::uint64_t fingerprint_on_stack(std::uintptr_t base, std::uintptr_t stack, const Offset* offsets,
                                   unsigned groups) noexcept {
  const auto* words = reinterpret_cast<const std::uintptr_t*>(stack);
  return fingerprint(base, groups, [&](unsigned i) { return words[offsets[i]]; });
}
// The same of one or two groups.
[[gnu::always_inline]] inline std::uint64_t near_fingerprint(std::uintptr_t base, std::uintptr_t stack,
                                                             const NearOffset* offsets, bool are_two) noexcept {
  const auto* words = reinterpret_cast<const std::uintptr_t*>(stack);
  std::uint64_t sum = base + even_sum([&](unsigned i) { return words[offsets[i]]; });
  if (are_two) sum += odd_sum([&](unsigned i) { return words[offsets[path_group + i]]; });
  return sum;
}

// The same of words that were read before.
constexpr std::uint64_t fingerprint_of(std::uintptr_t base, const Word* words, unsigned count) noexcept {
  return fingerprint(base, groups_of(count), [&](unsigned i) { return words[i < count ? i : count - 1].value; });
}

// Fills `offsets`, which has groups_of(count) groups.
template <class Offset>
constexpr void fill_offsets(std::uintptr_t stack, const Word* words, unsigned count, Offset* offsets) noexcept {
  for (unsigned i = 0; i < groups_of(count) * path_group; ++i)
    offsets[i] = static_cast<Offset>(offset_of(words[i < count ? i : count - 1], stack));
}

}  // namespace tare::stack
