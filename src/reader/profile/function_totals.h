// What the calls of each function have in the whole run, also in spells of which tare only counts the calls: those of a
// trial or a budget (recorder/spells.h).
//
// Calls are exact. Time and bytes of calls that were only counted are estimates (counted_calls.h).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "reader/model/process.h"
#include "reader/profile/profile_sums.h"

namespace tare::reader {

struct FunctionTotal {
  std::int32_t world = -1, rank = -1;
  std::uint16_t function = 0;        // number in Run::functions()
  std::uint64_t calls = 0;           // all
  std::uint64_t measured_calls = 0;  // of them
  double time_ns = 0;
  std::optional<double> time_error_ns;  // half of the 95 % interval; nothing: not known; 0: all calls were measured
  double bytes = 0;                     // without ProfileSum::received
  std::optional<double> bytes_error;
};

// What the sums are made by that these totals need.
inline const SumsQuery by_rank_and_function{.world = true, .rank = true, .function = true};
// Of each of the sums.
std::vector<FunctionTotal> function_totals(const std::vector<Process>& processes, const std::vector<ProfileSum>& sums);

}  // namespace tare::reader
