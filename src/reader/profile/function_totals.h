// Totals by function over the whole run, including the spells of --weigh and --budget in which tare only counts calls
// (recorder/spells.h).
//
// The numbers of calls are exact. Time and bytes of calls that were only counted are estimates (counted_calls.h).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "reader/model/process.h"
#include "reader/profile/profile_sums.h"

namespace tare::reader {

struct FunctionTotal {
  std::int32_t world = -1, rank = -1;
  std::int32_t process = -1;         // of the rank: index in Run::processes()
  std::uint16_t function = 0;        // number in Run::functions()
  std::uint64_t calls = 0;           // measured and counted calls
  std::uint64_t measured_calls = 0;  // part of `calls`
  double time_ns = 0;
  // Half the width of the 95 % confidence interval; nothing: not known; 0: all calls were measured. Likewise
  // bytes_error.
  std::optional<double> time_error_ns;
  double bytes = 0;  // without ProfileSum::received
  std::optional<double> bytes_error;
};

// The query whose result function_totals() takes as `sums`.
inline const SumsQuery by_rank_and_function{.world = true, .rank = true, .function = true};
// One total for each element of `sums`, in the same order.
std::vector<FunctionTotal> function_totals(const std::vector<Process>& processes, const std::vector<ProfileSum>& sums);

}  // namespace tare::reader
