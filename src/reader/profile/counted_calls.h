// What calls have that were only counted, in spells of a trial or a budget (recorder/spells.h), estimated from spells
// that were measured and stand for others (format/spell_sums.h).
//
// The number of the counted calls of a function is exact. What they have, such as time, bytes, or calls at one site, is
// that number times the ratio in the measured spells: a ratio estimate with the calls of the function as the auxiliary
// variable, so that the estimates for all its sites add up to that for the function. Its variance is that of spells
// which are chosen independently of each other, each with a probability of its own (Särndal, Swensson, Wretman: Model
// Assisted Survey Sampling, Springer 1992, sections 5.6 and 7.3).
#pragma once

#include <cstdint>
#include <optional>

#include "format/spell_sums.h"
#include "reader/model/process.h"

namespace tare::reader {

// With half the width of its 95 % confidence interval; nothing: it is not known. Then too few spells were measured that
// have such calls, and the value is too low, or many calls were counted where no spell stands for them.
struct Estimate {
  double value = 0;
  std::optional<double> error;
};

// What so many counted calls of a function have, in ticks and in bytes; `of`: sums of that function, or of it at a
// site, whose part of the calls is then meant; `function`: sums of the function.
Estimate ticks_of_counted(double calls, const format::SpellSums& of, const format::SpellSums& function) noexcept;
Estimate bytes_of_counted(double calls, const format::SpellSums& of, const format::SpellSums& function) noexcept;
// How many of them there are at a site.
Estimate calls_of_counted(double calls, const format::SpellSums& of, const format::SpellSums& function) noexcept;

// Whether so few counted calls follow a cut that errors are known: at most 2 %. A spell is cut where it costs more than
// others. No spell that was measured to its end represents the rest of it.
bool are_cuts_few(const Process& process);
// Whether errors are known for single sites, too: of the calls in spells that only count, at most 2 % were measured
// because requests were under way. How many further calls of their sites were only counted is not known.
bool are_leaks_few(const Process& process);

}  // namespace tare::reader
