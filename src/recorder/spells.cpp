#include "recorder/spells.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "format/definition.h"
#include "format/mix.h"
#include "format/number.h"
#include "format/process_record.h"
#include "recorder/definition_log.h"
#include "recorder/environment.h"
#include "recorder/errno_guard.h"
#include "recorder/location.h"
#include "recorder/node_words.h"
#include "recorder/segment.h"
#include "recorder/sources.h"
#include "recorder/spell_sums.h"
#include "recorder/system.h"

namespace tare::recorder {

constinit Spells spells;

bool Spells::is_first_thread(const Location& location) noexcept {
  return location.shared().block == 0 && location.shared().summary.number == 0;
}

namespace {

// Without a synchronisation point for so long, while so many calls are made, spells become timed ones: of one rank
// without the others after the longer time.
constexpr std::uint64_t quiet_ms = 250, quiet_alone_ms = 4000, quiet_calls = 64;
// A control of a run with a trace is given up if it is that long, and so many times longer than any spell before.
constexpr std::uint64_t long_control_ms = 1000, times_longer = 4;
// A timed spell has some repetitions of the program, and is not shorter or, with more than one repetition, longer than
// this.
constexpr std::uint64_t repetitions = 16, min_timed_ms = 8, max_timed_ms = 256;
constexpr std::uint64_t checks_of_timed = 16;  // of a timed spell that only counts

// The number after `value` in the sequence of SplitMix64.
std::uint64_t mixed(std::uint64_t value) noexcept { return format::mix(value + format::golden_gamma); }

// A number above 0 and below 1.
bool parse_share(std::string_view text, double& share) noexcept {
  format::Decimal number;
  if (!format::parse_decimal(text, number) || !text.empty()) return false;
  const double value = number.value();
  if (!(value > 0) || !(value < 1)) return false;
  share = value;
  return true;
}

// A share of the time, and after a comma the most bytes of the trace.
bool parse_budget(std::string_view text, Budget& budget) noexcept {
  const std::size_t comma = std::min(text.find(','), text.size());
  Budget read{};
  if (!parse_share({text.data(), comma}, read.share)) return false;
  text.remove_prefix(comma);
  if (!text.empty()) {
    text.remove_prefix(1);
    if (!format::parse_count(text, read.bytes)) return false;
  }
  budget = read;
  return true;
}

Depth depth_of(const Location& location) noexcept {
  if (location.counts_only) return Depth::counts;
  if (location.traced()) return Depth::trace;
  return location.thins ? Depth::thinned : Depth::profile;
}

// The bytes that the location has on disk, with those that its buffer will take there: less than an eighth of its size.
std::uint64_t stored_bytes(const Location& location) noexcept {
  const std::uint64_t buffered = std::uint64_t{location.events.ring.count} * location.events.ring.bytes / 8;
  return location.shared().summary.flush_bytes + location.shared().tared.bytes + buffered;
}

int world_size() noexcept { return segment() == nullptr ? 1 : std::max(segment()->process.size, 1); }

// Spawned ranks have a world of their own, with synchronisation points of its own.
bool is_spawned() noexcept { return segment() != nullptr && (segment()->process.flags & format::spawned) != 0; }

double ticks_per_ms() noexcept { return static_cast<double>(about_ticks(1'000'000)); }

// Whether the process has a rank. In tests of this library there is no segment.
bool has_rank() noexcept { return segment() == nullptr || segment()->process.rank >= 0; }

bool has_open_requests() noexcept {
  const auto has = only_hook<&Source::has_open_requests>();
  return has != nullptr && has();
}

}  // namespace

void Spells::begin(const char* weigh, const char* budget, const char* run_id) noexcept {
  if (are_asked()) return;
  if (budget != nullptr && !parse_budget(budget, budget_))
    warn_of("TARE_BUDGET", budget, "a number above 0 and below 1; after a comma, a number of bytes");
  double controls = 0;
  if (weigh != nullptr && !parse_share(weigh, controls)) warn_of("TARE_WEIGH", weigh, "a number above 0 and below 1");
  controls_ = static_cast<std::uint64_t>(std::ldexp(controls, 64));
  for (; *run_id != '\0'; ++run_id) seed_ = mixed(seed_ ^ static_cast<unsigned char>(*run_id));
}

void Spells::reset() noexcept {
  spell_summer.reset();
  stored_.store(0, std::memory_order_relaxed);
  controls_ = seed_ = sync_points_ = spell_ticks_ = 0;
  budget_ = {};
  cost_factor_ = {};
  next_ = 1;
  counted_ticks_ = counted_since_ = 0;
  is_named_ = is_cut_ = is_control_ = has_requests_ = is_timed_ = is_observing_ = is_rank_ = false;
  look_due_ = seen_ = seen_at_ = seen_calls_ = longest_ = end_calls_ = 0;
  repetition_.reset();
  completes_unknown_.store(false, std::memory_order_relaxed);
  has_counted_.store(false, std::memory_order_relaxed);
  spell_ = 0;
}

void Spells::pass(Location& location, std::uint32_t site, std::uint64_t time) noexcept {
  if (!is_named_ && !is_timed_) count(location, site, time);
}

void Spells::pass_silently(const Location& location) noexcept {
  if (!is_named_ && is_first_thread(location)) ++sync_points_;
}

void Spells::progress(Location& location) noexcept {
  if (!are_asked()) return;
  is_named_ = true;
  is_timed_ = false;
  count(location, 0, now());
}

void Spells::count(Location& location, std::uint32_t site, std::uint64_t time) noexcept {
  if (!is_first_thread(location)) return;
  if (++sync_points_ < next_) return;
  if (time == 0) time = now();
  const bool has_ended = is_observing_;  // observe() has written it
  set_observing(false);
  if (spell_ != 0 && !has_ended)
    end_spell(location, site, time);
  else
    count_until(time);
  const auto length = static_cast<std::uint32_t>(1 + sync_points_ / sync_points_per_length);
  next_ = sync_points_ + length;
  begin_spell(location, spell_ + 1, length, site, time);
  if (has_budget()) spell_ticks_ += now() - time;
}

format::SpellDefinition Spells::definition(bool completes_unknown) const noexcept {
  format::SpellDefinition spell{};
  spell.head.kind = format::DefinitionKind::spell;
  if (depth_ == Depth::counts) spell.head.flags |= format::unmeasured_spell;
  if (depth_ == Depth::trace) spell.head.flags |= format::traced_spell;
  if (is_cut_) spell.head.flags |= format::cut_spell;
  if (is_control_) spell.head.flags |= format::control_spell;
  if (has_requests_) spell.head.flags |= format::spell_with_requests;
  if (completes_unknown && depth_ != Depth::counts) spell.head.flags |= format::spell_completes_unknown;
  if (length_ == 0) spell.head.flags |= format::timed_spell;
  spell.spell = spell_;
  spell.sync_points = length_;
  spell.first_site = site_;
  spell.begin = begin_;
  return spell;
}

void Spells::complete_unknown(const Location& location) noexcept {
  if (!are_asked() || has_counted_.load(std::memory_order_relaxed)) return;
  if (completes_unknown_.exchange(true, std::memory_order_relaxed)) return;
  // At once, because the process may be killed. Of other threads, the end of the spell says it.
  if (!is_first_thread(location) || spell_ == 0 || depth_ != Depth::trace) return;
  format::SpellDefinition spell = definition(true);
  spell.head.flags |= format::unfinished_spell;
  define(&spell, sizeof spell);
}

void Spells::end_spell(Location& location, std::uint32_t site, std::uint64_t time) noexcept {
  spell_summer.end(location, spell_sums());
  format::SpellDefinition spell = definition(completes_unknown_.exchange(false, std::memory_order_relaxed));
  spell.last_site = site;
  spell.ticks = time > begin_ ? time - begin_ : 0;
  spell.flush_ticks = location.shared().summary.flush_ticks - flush_ticks_;
  spell.measured_calls = location.weighing.calls() - calls_;
  spell.counted_calls = location.counted_calls - counted_;
  spell.counted_polls = location.counted_polls - counted_polls_;
  count_until(time);
  spell.counted_ticks = counted_ticks_;
  longest_ = std::max(longest_, spell.ticks);
  define(&spell, sizeof spell);
  if (has_budget()) compare(location, spell);
}

void Spells::count_until(std::uint64_t time) noexcept {
  if (counted_since_ == 0 || time <= counted_since_) return;
  counted_ticks_ += time - counted_since_;
  if (segment() != nullptr) segment()->process.counted_ticks += time - counted_since_;
  set_counted_since(time);
}

// Readers see it at once, because the process may be killed, and because there may be no spell.
void Spells::set_counted_since(std::uint64_t time) noexcept {
  counted_since_ = time;
  if (segment() != nullptr) segment()->process.counted_since = time;
}

void Spells::compare(Location& location, const format::SpellDefinition& spell) noexcept {
  // The depth changed within a spell that was cut, and a spell that only counts measures some calls while requests from
  // before it are open. So neither says what one depth costs.
  const std::uint64_t calls = spell.measured_calls + spell.counted_calls;
  if (is_cut_ || calls == 0 || spell.ticks <= spell.flush_ticks) return;
  if (depth_ == Depth::counts && has_requests_) return;
  const std::uint64_t ticks = spell.ticks - spell.flush_ticks;
  const SpellTime time = spell.sync_points != 0
                             ? SpellTime{spell.first_site, spell.last_site, spell.sync_points, calls, ticks}
                             : SpellTime{0, 0, static_cast<std::uint32_t>(calls), calls, ticks};
  const Costs costs = location.governor.account();
  if (depth_ == Depth::counts)
    cost_factor_.note_counted(time);
  else
    cost_factor_.note_recorded(time, depth_, spell.measured_calls, costs);
  for (const Depth depth : {Depth::thinned, Depth::profile, Depth::trace})
    location.governor.note_factor(depth, cost_factor_.value(depth, costs));
}

void Spells::begin_spell(Location& location, std::uint32_t number, std::uint32_t sync_points, std::uint32_t site,
                         std::uint64_t time) noexcept {
  const std::uint64_t expected_ticks = spell_ == 0 ? 0 : time - std::min(time, begin_);
  spell_ = number;
  length_ = sync_points;
  site_ = site;
  is_cut_ = false;
  has_counted_.store(false, std::memory_order_relaxed);
  const auto [chosen, measured, is_control] = choose(location, time, expected_ticks);
  is_control_ = is_control;
  // Open requests decide which calls a spell that counts must measure, and which messages can be matched after a gap.
  const bool asks = chosen == Depth::counts || (chosen == Depth::trace && location.gap_begin != 0);
  has_requests_ = asks && has_open_requests();
  // Before begin_ is set, so that its time belongs to no spell.
  if (chosen != Depth::counts && measured < 1) spell_summer.begin(location, measured);
  begin_ = now();
  counted_ticks_ = 0;
  if (counted_since_ != 0) set_counted_since(begin_);
  const bool ends_gap = location.gap_begin != 0;
  change(location, chosen, begin_);
  depth_ = depth_of(location);  // not `chosen`: there may be no trace, or it is paused
  calls_ = location.weighing.calls();
  counted_ = location.counted_calls;
  counted_polls_ = location.counted_polls;
  flush_ticks_ = location.shared().summary.flush_ticks;
  if (ends_gap && depth_ == Depth::trace) {
    format::SpellDefinition spell = definition(false);
    spell.head.flags |= format::unfinished_spell;
    define(&spell, sizeof spell);
  }
}

Spells::Chosen Spells::choose(Location& location, std::uint64_t time, std::uint64_t expected_ticks) noexcept {
  const std::uint64_t drawn = mixed(seed_ ^ spell_);
  const bool is_control = mixed(drawn) < controls_;
  const double controls = std::ldexp(static_cast<double>(controls_), -64);
  if (!has_budget()) return {is_control ? Depth::counts : Depth::trace, 1 - controls, is_control};
  advance(location, time);
  Governor::Shares own = location.governor.plan(budget_, expected_ticks);
  own.traced = std::min(own.traced, traced_share_of_bytes());
  // Timed spells have no moment at which all offers are there.
  const bool is_common = !is_spawned() && !is_timed_;
  const Governor::Shares shares = is_common ? node_words->shares.of(spell_) : own;
  if (is_common) node_words->shares.offer(spell_ + 1, own);
  const double measured = std::max(shares.traced, shares.measured);
  const double x = std::ldexp(static_cast<double>(drawn), -64);
  const Depth depth = x < shares.traced ? Depth::trace
                      : x < measured    ? location.governor.profile_depth()
                                        : Depth::counts;
  return {is_control ? Depth::counts : depth, measured * (1 - controls), is_control};
}

// After half of the bytes are used, fewer and fewer spells are traced, so that the trace of a long run reaches its end.
double Spells::traced_share_of_bytes() const noexcept {
  const double left = bytes_left();
  return left <= min_bytes_left ? 0 : std::min(1.0, 2 * left);
}

double Spells::bytes_left() const noexcept {
  if (budget_.bytes == 0) return 1;
  const auto stored = static_cast<double>(stored_.load(std::memory_order_relaxed));
  return std::max(0.0, 1 - stored * world_size() / static_cast<double>(budget_.bytes));
}

void Spells::advance(Location& location, std::uint64_t time) noexcept {
  const std::uint64_t stored = stored_bytes(location);
  stored_.fetch_add(stored - location.stored_reported, std::memory_order_relaxed);
  location.stored_reported = stored;
  // Threads beside the first may be there to wait for work, so what they may spend is a share of their processor time.
  const bool is_first = is_first_thread(location);
  const Progress progress{
      is_first ? time : location.scheduling.processor_ticks,
      location.weighing.calls(),
      location.counted_calls,
      location.counted_in_wrappers,
      location.shared().summary.flush_ticks,
      location.sample_ticks + location.shared().scheduling.cost_ticks + (is_first ? spell_ticks_ : 0)};
  if (is_first && is_control_)
    location.governor.pass_over(progress);
  else if (location.governor.has_begun())
    location.governor.advance(budget_, depth_of(location), progress);
  else
    location.governor.begin(progress, ticks_per_ms());
}

void Spells::look(Location& location, std::uint64_t time) noexcept {
  if (!are_asked() || is_named_ || !is_first_thread(location)) return;
  const ErrnoGuard guard;
  if (!is_rank_ && has_rank() && !is_spawned()) {
    set_observing(false);
    is_rank_ = true;
    node_words->timed.ranks.fetch_add(1, std::memory_order_relaxed);
  }
  if (is_timed_) {
    look_at_timed(location, time);
  } else if (is_spawned()) {
    look_due_ = never;
  } else if (!needs_time(location, time)) {
    set_observing(false);
    look_due_ = time + static_cast<std::uint64_t>(ticks_per_ms()) * quiet_ms / 8;
  } else if (location.events.ring.count != 0 && !has_budget()) {
    give_up_long_control(location, time);
    look_due_ = time + static_cast<std::uint64_t>(ticks_per_ms()) * quiet_ms / 8;
  } else {
    observe(location, time);
  }
  location.due = std::min(location.scheduling.due, look_due_);
}

bool Spells::needs_time(const Location& location, std::uint64_t time) noexcept {
  const std::uint64_t calls = location.calls_made();
  if (seen_at_ == 0 || seen_ != sync_points_) {
    seen_ = sync_points_;
    seen_at_ = time;
    seen_calls_ = calls;
  }
  return static_cast<double>(time - seen_at_) >= quiet_ms * ticks_per_ms() && calls - seen_calls_ >= quiet_calls;
}

void Spells::give_up_long_control(Location& location, std::uint64_t time) noexcept {
  const std::uint64_t ticks = time - std::min(time, begin_);
  const bool is_long =
      static_cast<double>(ticks) >= long_control_ms * ticks_per_ms() && ticks > times_longer * longest_;
  if (spell_ == 0 || !is_control_ || !location.counts_only || !is_long) return;
  is_cut_ = true;
  is_control_ = false;
  change(location, Depth::trace, time);
}

void Spells::set_observing(bool is_observing) noexcept {
  if (is_observing == is_observing_) return;
  is_observing_ = is_observing;
  if (is_rank_) node_words->timed.quiet.fetch_add(is_observing ? 1 : -1U, std::memory_order_relaxed);
}

bool Spells::may_be_timed(std::uint64_t time) const noexcept {
  const TimedSpells& timed = node_words->timed;
  return timed.quiet.load(std::memory_order_relaxed) >= timed.ranks.load(std::memory_order_relaxed) ||
         static_cast<double>(time - seen_at_) >= quiet_alone_ms * ticks_per_ms();
}

void Spells::observe(Location& location, std::uint64_t time) noexcept {
  if (!is_observing_) {
    set_observing(true);
    repetition_.reset();
    if (spell_ != 0) {
      is_cut_ = true;
      end_spell(location, 0, time);
    }
    is_control_ = false;
    // Places of calls that are only counted are not known.
    if (location.counts_only) change(location, has_budget() ? location.governor.profile_depth() : Depth::trace, time);
  }
  look_due_ = time + static_cast<std::uint64_t>(ticks_per_ms());
  if (!may_be_timed(time)) return repetition_.reset();
  if (!repetition_.is_known()) {
    repetition_.note(location.shared().current.site, location.calls_made(), read_ns(CLOCK_MONOTONIC),
                     !has_open_requests());
  }
  if (!repetition_.is_known()) {
    look_due_ = 0;
    return;
  }
  agree_on_time();
  if (node_words->timed.begin.load(std::memory_order_acquire) == 0) return;  // another rank is about to write it
  is_timed_ = true;
  is_observing_ = false;  // without set_observing(): it stays one of TimedSpells::quiet
  end_calls_ = location.calls_made();
  spell_ = 0;
  look_at_timed(location, now());
}

void Spells::agree_on_time() noexcept {
  TimedSpells& timed = node_words->timed;
  if (timed.writers.fetch_add(1, std::memory_order_relaxed) != 0) return;
  const std::uint64_t of_program_ms = repetition_.mean_ns() / 1'000'000;
  const std::uint64_t wanted_ms = std::clamp(repetitions * of_program_ms, min_timed_ms, max_timed_ms);
  const double ms = static_cast<double>(std::max(wanted_ms, of_program_ms));
  timed.ticks.store(static_cast<std::uint64_t>(ms * ticks_per_ms()), std::memory_order_relaxed);
  // Other ranks may have gone through some more spells.
  timed.first.store(spell_ + 1024, std::memory_order_relaxed);
  timed.begin.store(now(), std::memory_order_release);
}

void Spells::look_at_timed(Location& location, std::uint64_t time) noexcept {
  const TimedSpells& timed = node_words->timed;
  const std::uint64_t ticks = timed.ticks.load(std::memory_order_relaxed);
  const std::uint64_t since = time - std::min(time, timed.begin.load(std::memory_order_relaxed));
  const std::uint32_t number = timed.first.load(std::memory_order_relaxed) + static_cast<std::uint32_t>(since / ticks);
  if (spell_ == number) return look_again(location, time, ticks - since % ticks);
  const std::uint64_t calls = location.calls_made();
  if (end_calls_ == 0) end_calls_ = repetition_.next(calls);
  if (calls > end_calls_) end_calls_ = repetition_.next(calls);
  if (calls < end_calls_) {
    look_due_ = 0;
    location.until_check = static_cast<std::int64_t>(end_calls_ - calls - 1);
    return;
  }
  if (!location.counts_only && !repetition_.is_at_place(calls, !has_open_requests())) {
    end_calls_ = calls + 1;
    look_due_ = 0;
    return;
  }
  if (spell_ != 0)
    end_spell(location, location.shared().current.site, time);
  else
    count_until(time);
  begin_spell(location, number, 0, location.shared().current.site, time);
  end_calls_ = 0;
  look_again(location, time, ticks - since % ticks);
  if (has_budget()) spell_ticks_ += now() - time;
}

void Spells::look_again(Location& location, std::uint64_t time, std::uint64_t ticks) noexcept {
  look_due_ = time + ticks;
  // As many calls as would be made in a part of the spell, if they came as those that were observed.
  const double calls = static_cast<double>(node_words->timed.ticks.load(std::memory_order_relaxed)) / ticks_per_ms() *
                       1e6 / static_cast<double>(repetition_.mean_ns()) * static_cast<double>(repetition_.period());
  const auto between = static_cast<std::int64_t>(calls / checks_of_timed);
  location.until_check = std::clamp<std::int64_t>(between, 1, calls_between_checks) - 1;
}

void Spells::check(Location& location, std::uint64_t time, std::uint64_t ticks) noexcept {
  advance(location, time);
  const bool is_first = is_first_thread(location);
  if (is_first && is_control_) return;
  const Depth depth = depth_of(location);
  const bool has_begun_spell = is_first && begin_ >= location.weighing.begin;
  if (ticks != 0 && !has_begun_spell) location.governor.note_cost(depth, ticks);
  Depth allowed = location.governor.limit(budget_, depth);
  if (allowed == Depth::counts && !is_first) allowed = depth;
  if (allowed == Depth::trace && bytes_left() <= min_bytes_left) allowed = location.governor.profile_depth();
  if (allowed < depth) {
    change(location, allowed, time);
    if (is_first && (depth == Depth::trace || allowed == Depth::counts)) is_cut_ = true;
    if (is_first && allowed == Depth::counts) spell_summer.cut(location);
    return;
  }
  // When all requests from before the cut are complete, calls on requests are only counted, too.
  if (location.requests_open && !has_open_requests()) {
    location.requests_open = false;
    tell_sources<&Source::depth_changes>(location);
  }
  if (depth == Depth::trace || !location.governor.has_saved(budget_)) return;
  // Messages can be numbered anew only from a synchronisation point. Where there are no synchronisation points, a trace
  // with unmatched messages is better than none.
  const bool may_trace = (!is_first || spell_ == 0) && traced_share_of_bytes() == 1;
  if (is_first && depth == Depth::counts) has_counted_.store(true, std::memory_order_relaxed);
  if (depth == Depth::counts || may_trace)
    change(location, depth == Depth::counts ? location.governor.profile_depth() : Depth::trace, time);
}

void Spells::change(Location& location, Depth depth, std::uint64_t time) noexcept {
  if (depth == Depth::trace && location.events.ring.count == 0) depth = Depth::profile;
  const bool counts_only = depth == Depth::counts;
  // A trace contains all polls, and calls that are only counted cannot belong to a series of polls.
  const bool ends_streaks = depth != depth_of(location) && (counts_only || depth == Depth::trace);
  if (ends_streaks) tell_sources<&Source::pauses>(location);
  location.requests_open = counts_only && has_open_requests();
  location.thins = depth == Depth::thinned;
  const bool counted = std::exchange(location.counts_only, counts_only);
  if (is_first_thread(location) && counted != counts_only) {
    count_until(time);
    set_counted_since(counts_only ? time : 0);
  }
  if (counted || counts_only) tell_sources<&Source::depth_changes>(location);
  if (depth == Depth::trace)
    location.end_gap(time);
  else
    location.begin_gap(time);
}

}  // namespace tare::recorder
