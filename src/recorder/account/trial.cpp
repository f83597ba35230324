#include "recorder/account/trial.h"

#include <cmath>
#include <cstdlib>

#include "format/definition.h"
#include "recorder/definition_log.h"
#include "recorder/location.h"
#include "recorder/options.h"

namespace tare::recorder {

constinit Trial trial;

namespace {

// The finaliser of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014).
std::uint64_t mixed(std::uint64_t value) noexcept {
  value += 0x9e3779b97f4a7c15U;
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9U;
  value = (value ^ value >> 27) * 0x94d049bb133111ebU;
  return value ^ value >> 31;
}

}  // namespace

void Trial::begin(const char* share, const char* run_id) noexcept {
  if (share == nullptr || is_asked()) return;
  const double part = std::strtod(share, nullptr);
  if (!(part > 0 && part < 1)) return;
  threshold_ = static_cast<std::uint64_t>(std::ldexp(part, 64));
  for (; *run_id != '\0'; ++run_id) seed_ = mixed(seed_ ^ static_cast<unsigned char>(*run_id));
}

void Trial::pass(Location& location, std::uint32_t site, std::uint64_t time) noexcept {
  if (!is_named_) count(location, site, time);
}

void Trial::progress(Location& location) noexcept {
  if (!is_asked()) return;
  is_named_ = true;
  count(location, 0, now());
}

void Trial::count(Location& location, std::uint32_t site, std::uint64_t time) noexcept {
  if (location.shared->block != 0 || location.shared->summary.number != 0) return;
  if (++passages_ < next_) return;
  if (spell_ != 0) end_spell(location, site, time);
  begin_spell(location, site);
}

void Trial::end_spell(const Location& location, std::uint32_t site, std::uint64_t time) const noexcept {
  format::SpellDefinition spell{};
  spell.head.kind = format::DefinitionKind::spell;
  if (location.counts_only) spell.head.flags |= format::unmeasured_spell;
  if (location.requests_open) spell.head.flags |= format::spell_with_requests;
  spell.spell = spell_;
  spell.passages = length_;
  spell.first_site = site_;
  spell.last_site = site;
  spell.begin = begin_;
  spell.ticks = time > begin_ ? time - begin_ : 0;
  spell.flush_ticks = location.shared->summary.flush_ticks - flush_ticks_;
  spell.measured_calls = location.weighing.calls() - calls_;
  spell.counted_calls = location.counted_calls - counted_;
  spell.counted_polls = location.counted_polls - counted_polls_;
  define(&spell, sizeof spell);
}

void Trial::begin_spell(Location& location, std::uint32_t site) noexcept {
  ++spell_;
  length_ = static_cast<std::uint32_t>(1 + passages_ / passages_a_length);
  next_ = passages_ + length_;
  site_ = site;
  const bool counts_only = mixed(seed_ ^ spell_) < threshold_;
  if (counts_only) {
    location.requests_open = library_options.has_open_requests != nullptr && library_options.has_open_requests();
    if (library_options.pauses != nullptr) library_options.pauses(location);
  } else {
    location.requests_open = false;
  }
  location.counts_only = counts_only;
  if (library_options.spell_begins != nullptr) library_options.spell_begins(location);
  calls_ = location.weighing.calls();
  counted_ = location.counted_calls;
  counted_polls_ = location.counted_polls;
  flush_ticks_ = location.shared->summary.flush_ticks;
  begin_ = now();
}

}  // namespace tare::recorder
