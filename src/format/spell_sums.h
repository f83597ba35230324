// What the measured spells say of those whose calls were only counted (recorder/spells.h). Part of the segment, and
// also on disk: the payload of a spell_sums chunk is an array of these, one of each function, and one of each function
// at each call site.
//
// A spell is measured with a probability p that was known when it began, and stands for 1 / p spells: weight = 1 / p.
// So the sum of weight - 1 times what a measured spell has of something estimates what the others have of it (Horvitz
// and Thompson, A generalization of sampling without replacement, JASA 47, 1952). Spells with p = 1 stand for
// themselves alone and are in no sum. Nor is the call that ends a spell: it is measured in all spells. Times are in
// ticks.
#pragma once

#include <cstdint>

namespace tare::format {

inline constexpr std::uint32_t all_sites = UINT32_MAX;  // a row's site may be any other number, and 0

struct SpellSums {
  std::uint32_t function;
  std::uint32_t site;    // of this process; all_sites: these are the sums of the function
  std::uint32_t spells;  // that had such calls
  std::uint32_t reserved;
  // Sums of weight - 1 times what a spell has of such calls:
  double calls;
  double ticks;
  double bytes;
  // Of weight * (weight - 1) times the products, for variances:
  double calls_calls;
  double ticks_ticks;
  double bytes_bytes;
  // The same with the calls of the function, at all sites:
  double calls_of_function;
  double ticks_of_function;
  double bytes_of_function;
};
static_assert(sizeof(SpellSums) == 88);

// In the segment. Sites leave room for functions; a program hardly calls as many.
inline constexpr std::uint32_t spell_sums_capacity = 1024;
inline constexpr std::uint32_t spell_sums_for_functions = 128;
struct SpellSumsTable {
  std::uint32_t entries;  // that are in use
  std::uint32_t reserved;
  SpellSums sums[spell_sums_capacity];
};

}  // namespace tare::format
