// What the calls of each function have in the whole run, also in spells of which tare only counts the calls: those of a
// trial or a budget (recorder/spells.h).
//
// Calls are exact. Time and bytes of calls that were only counted are estimated by their number, times the ratio in
// the spells that were measured and stand for others (format/spell_sums.h): a ratio estimate, whose variance is that of
// spells which are chosen independently of each other, each with a probability of its own (Särndal, Swensson, Wretman:
// Model Assisted Survey Sampling, Springer 1992, sections 5.6 and 7.3).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "format/spell_sums.h"
#include "reader/model/process.h"
#include "reader/profile/profile_sums.h"

namespace tare::reader {

// With half the width of its 95 % confidence interval; nothing: it is not known. Then too few spells were measured, and
// the value is that of the measured calls alone; or many calls were counted behind cuts.
struct Estimate {
  double value = 0;
  std::optional<double> error;
};

// What so many calls have that were only counted, in ticks and in bytes.
Estimate ticks_of_counted(double calls, const format::SpellSums& sums) noexcept;
Estimate bytes_of_counted(double calls, const format::SpellSums& sums) noexcept;

struct FunctionTotal {
  std::int32_t world = -1, rank = -1;
  std::uint16_t function = 0;        // number in Run::functions()
  std::uint64_t calls = 0;           // all
  std::uint64_t measured_calls = 0;  // of them
  double time_ns = 0;
  std::optional<double> time_error_ns;  // as Estimate::error; 0: all calls were measured
  double bytes = 0;                     // without ProfileSum::received
  std::optional<double> bytes_error;
};

// What the sums are made by that these totals need.
inline const SumsQuery by_rank_and_function{.world = true, .rank = true, .function = true};
// Of each of the sums.
std::vector<FunctionTotal> function_totals(const std::vector<Process>& processes, const std::vector<ProfileSum>& sums);

}  // namespace tare::reader
