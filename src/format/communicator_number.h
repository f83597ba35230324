// Numbers of communicators, windows and files in a process.
//
// A program may make and free communicators without end. Records tell them all apart, so that messages and collective
// operations can be matched. The tables of the profile are of fixed size, so they do not: communicators that are made
// alike, one after the other, are one *family*, and the family has one set of profile rows and peers. The low bits of a
// number are the family. The first member of a family has no other bits, so its number is that of the family.
#pragma once

#include <cstdint>

namespace tare::format {

inline constexpr unsigned family_bits = 12;
inline constexpr std::uint32_t max_families = 1U << family_bits;
// Windows and files are in no row, and each has a number of its own.
inline constexpr std::uint32_t scope_family = max_families - 1;

// The number that profile rows and peers have for a communicator. 0: there is no family left for it.
constexpr std::uint32_t family_of(std::uint32_t communicator) noexcept { return communicator & (max_families - 1); }

// The number of a member of a family; the members are counted from 0.
constexpr std::uint32_t member_number(std::uint32_t family, std::uint32_t member) noexcept {
  return member << family_bits | family;
}
inline constexpr std::uint32_t max_members = 1U << (32 - family_bits);

}  // namespace tare::format
