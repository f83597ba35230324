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

#include <optional>

#include "format/spell_sums.h"
#include "reader/model/process.h"

namespace tare::reader {

// `error`: half the width of the 95 % confidence interval; nothing: not known. It is not known if too few spells with
// such calls were measured (the value may be too low then), if one or two of them represent nearly all others or have
// nearly all of it, or if no measured spell represents many of the calls.
struct Estimate {
  double value = 0;
  std::optional<double> error;
};

// Calls of a function that were only counted.
struct Counted {
  double calls = 0;
  // Part of them of which it is not known what they were: measured spells do not represent them. They may all be at one
  // site, so errors are larger by what as many calls have there.
  double unrepresented = 0;
  // The share of these calls in all calls of the function.
  double share = 1;
};

// The ticks and the bytes of counted calls of a function. `function`: the sums of the function. `of`: either the same
// sums, or those of the function at one site; the result is then for the part of the calls made at this site.
Estimate ticks_of_counted(const Counted& counted, const format::SpellSums& of,
                          const format::SpellSums& function) noexcept;
Estimate bytes_of_counted(const Counted& counted, const format::SpellSums& of,
                          const format::SpellSums& function) noexcept;
// The same where no measured spell that represents others has calls of the function, or of its site: as much for each
// call as for those that were measured, which may be a mere part of the run, so the error is not known.
Estimate extrapolated(double counted, double measured_calls, double measured) noexcept;
// How many of the counted calls of a function were made at the site of `of`.
Estimate calls_of_counted(const Counted& counted, const format::SpellSums& of,
                          const format::SpellSums& function) noexcept;

// Calls of a process that were only counted, and those among them that no measured spell represents:
//
//   behind_cuts  those in spells that were cut. A spell is cut if it costs more than others, and spells that were
//                measured to their ends do not represent the rest of such a spell.
//   leaked       as many as were measured in spells that only count, because they complete requests that were started
//                before. It is not known how many other calls of their sites were only counted. Only sites are
//                concerned, because the number of counted calls of each function is exact.
struct Unrepresented {
  double counted = 0;
  double behind_cuts = 0;
  double leaked = 0;

  bool by_function = false;  // SpellSums::behind_cuts is known

  // Part of `counted` calls of a function, the sums of which are `function`: how many of them are behind cuts.
  double behind_cuts_of(double counted, const format::SpellSums& function) const noexcept;
  // Whether so few are not represented that errors are known: `behind_cuts` and `leaked` are at most 10 % of the
  // counted calls.
  static bool is_known(double counted, double behind_cuts) noexcept;
  bool are_sites_known() const noexcept;
};
Unrepresented unrepresented_calls(const Process& process);

// A quantity of `counted` calls of a function: by `estimate`, one of the functions above, from the sums of its spells;
// if none of them represents others, or `sums` is null, extrapolated from the calls that were measured.
Estimate of_counted(decltype(ticks_of_counted)* estimate, double counted, double measured_calls, double measured,
                    const Unrepresented& unrepresented, const format::SpellSums* sums) noexcept;

}  // namespace tare::reader
