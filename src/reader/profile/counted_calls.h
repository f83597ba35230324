// Estimates the time and the bytes of calls that were only counted, in spells of --weigh or --budget
// (recorder/spells.h), and how many of them were at each call site. The estimates come from measured spells, each of
// which represents other spells, too (format/spell_sums.h).
//
// The number of counted calls of a function is exact. Another quantity of these calls is this number times the ratio of
// the quantity to the calls in the measured spells. This is a ratio estimate with the calls of the function as the
// auxiliary variable, so the estimates for all sites add up to the one for the function. Its variance is that of a
// sample of spells that are chosen independently, each with its own probability (Särndal, Swensson, Wretman: Model
// Assisted Survey Sampling, Springer 1992, sections 5.6 and 7.3).
#pragma once

#include <cstdint>
#include <optional>

#include "format/spell_sums.h"
#include "reader/model/process.h"

namespace tare::reader {

// `error`: half the width of the 95 % confidence interval; nothing: not known. It is not known if too few spells with
// such calls were measured (the value may be too low then), or if many calls were counted in spells that no measured
// spell represents.
struct Estimate {
  double value = 0;
  std::optional<double> error;
};

// The ticks and the bytes of `calls` counted calls of a function. `function`: the sums of the function. `of`: either
// the same sums, or those of the function at one site; the result is then for the part of the calls made at this site.
Estimate ticks_of_counted(double calls, const format::SpellSums& of, const format::SpellSums& function) noexcept;
Estimate bytes_of_counted(double calls, const format::SpellSums& of, const format::SpellSums& function) noexcept;
// How many of `calls` counted calls of a function were made at the site of `of`.
Estimate calls_of_counted(double calls, const format::SpellSums& of, const format::SpellSums& function) noexcept;

// Whether at most 2 % of the counted calls lie in spells that were cut, so that errors are known. A spell is cut if it
// costs more than others; spells that were measured to their ends do not represent the rest of such a spell.
bool are_cuts_few(const Process& process);
// Whether errors are known for single sites, too. In spells that only count, calls are measured if they complete
// requests that were started before. It is not known how many other calls of their sites were only counted. The errors
// are known if at most 2 % of the calls in such spells were measured.
bool are_leaks_few(const Process& process);

}  // namespace tare::reader
