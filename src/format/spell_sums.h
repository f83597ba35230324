// Sums over measured spells, from which spells that only counted their calls are estimated (recorder/spells.h). Part of
// the segment. Also on disk: the payload of a spell_sums chunk is an array of these, one for each function, and one for
// each function at each call site.
//
// A spell is measured with a probability p that is known when it begins, and represents 1 / p spells: weight = 1 / p.
// So the sum of (weight - 1) times a quantity of measured spells estimates that quantity for the others (Horvitz and
// Thompson, A generalization of sampling without replacement, JASA 47, 1952). Spells with p = 1 represent only
// themselves, and are in no sum. The call that ends a spell is in no sum either, because it is measured in all spells.
// Times are in ticks.
#pragma once

#include <cstdint>

namespace tare::format {

inline constexpr std::uint32_t all_sites = UINT32_MAX;  // a row's site may be any other number, and 0

struct SpellSums {
  std::uint32_t function;
  std::uint32_t site;    // of this process; all_sites: these are the sums of the function
  std::uint32_t spells;  // spells with such calls
  // Calls of the function that were only counted behind cuts (recorder/spells.h), which no spell represents. Only in
  // the sums of functions; at most UINT32_MAX.
  std::uint32_t behind_cuts;
  // Sums over spells of (weight - 1) times the quantity:
  double calls;
  double ticks;
  double bytes;
  // Sums of weight * (weight - 1) times the products, for variances:
  double calls_calls;
  double ticks_ticks;
  double bytes_bytes;
  // The same for products with the calls of the function at all sites:
  double calls_of_function;
  double ticks_of_function;
  double bytes_of_function;
};
static_assert(sizeof(SpellSums) == 88);

// In the segment. Some entries are reserved for functions; a program hardly calls as many.
inline constexpr std::uint32_t spell_sums_capacity = 1024;
inline constexpr std::uint32_t spell_sums_for_functions = 128;
struct SpellSumsTable {
  std::uint32_t entries;  // entries in use
  std::uint32_t reserved;
  SpellSums sums[spell_sums_capacity];
};

}  // namespace tare::format
