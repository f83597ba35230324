#include "reader/profile/site_totals.h"

#include <algorithm>

#include "reader/model/counted_calls.h"

namespace tare::reader {
namespace {

using format::SpellSums;

constexpr double less_than_a_call = 0.5;

// The counted calls of a function in one process.
struct OfFunction {
  double counted = 0;
  double calls = 0;     // all of them, measured or counted
  double measured = 0;  // those of which the next two are
  double time_ns = 0, bytes = 0;
  const SpellSums* sums = nullptr;
  double at_sites = 0;  // part of `counted`: calls that were attributed to a site
};

// Estimates for the counted calls of a function at one site, or at several sites that were merged.
struct OfSite {
  Estimate calls{0, 0}, ticks{0, 0}, bytes{0, 0};
};

void add(std::optional<double>& to, std::optional<double> error) {
  if (to) to = error ? std::optional(*to + *error) : std::nullopt;
}

void add(Estimate& to, const Estimate& from) {
  to.value += from.value;
  add(to.error, from.error);
}

}  // namespace

void SiteTotals::add(const std::vector<Process>& processes, const std::vector<ProfileSum>& sums) {
  const ProfileSum* const end = sums.data() + sums.size();
  for (const ProfileSum* begin = sums.data(); begin != end;) {
    const ProfileSum* const next =
        std::find_if(begin, end, [begin](const ProfileSum& sum) { return sum.key.process != begin->key.process; });
    add(processes[static_cast<std::size_t>(begin->key.process)], begin, next);
    begin = next;
  }
}

void SiteTotals::add(const Process& process, const ProfileSum* begin, const ProfileSum* end) {
  std::map<std::uint16_t, OfFunction> functions;
  for (const ProfileSum* sum = begin; sum != end; ++sum) {
    OfFunction& of = functions[sum->key.function];
    of.counted += static_cast<double>(sum->calls - sum->timed_calls);
    of.calls += static_cast<double>(sum->calls);
    of.measured += static_cast<double>(sum->timed_calls);
    of.time_ns += static_cast<double>(sum->time_ns);
    of.bytes += static_cast<double>(sum->bytes);
  }
  const auto function_of = [&process](const SpellSums& sums) {
    return FunctionNames::lookup(*process.functions, sums.function);
  };
  for (const SpellSums& sums : process.spell_sums)
    if (const auto found = functions.find(function_of(sums));
        found != functions.end() && sums.site == format::all_sites)
      found->second.sums = &sums;

  const Unrepresented unrepresented = unrepresented_calls(process);
  const auto has_errors = [&](const OfFunction& of) {
    if (of.sums == nullptr) return Unrepresented::is_known(of.counted, unrepresented.behind_cuts);
    return unrepresented.are_sites_known() &&
           Unrepresented::is_known(of.counted, unrepresented.behind_cuts_of(of.counted, *of.sums));
  };
  std::map<std::pair<std::uint16_t, std::int32_t>, OfSite> sites;
  for (const SpellSums& sums : process.spell_sums) {
    if (sums.site == format::all_sites) continue;
    const auto found = functions.find(function_of(sums));
    if (found == functions.end() || found->second.sums == nullptr) continue;
    OfFunction& of = found->second;
    OfSite& site = sites[{found->first, standing_for(process.sites.find(sums.site))}];
    const double behind_cuts = unrepresented.behind_cuts_of(of.counted, *of.sums);
    const Counted counted{of.counted, std::min(of.counted, behind_cuts + unrepresented.leaked),
                          of.calls > 0 ? of.counted / of.calls : 0};
    const Estimate calls = calls_of_counted(counted, sums, *of.sums);
    of.at_sites += calls.value;
    reader::add(site.calls, calls);
    reader::add(site.ticks, ticks_of_counted(counted, sums, *of.sums));
    reader::add(site.bytes, bytes_of_counted(counted, sums, *of.sums));
  }

  const double tick_ns = process.clock.rate();
  for (const ProfileSum* sum = begin; sum != end; ++sum) {
    if (sum->timed_calls == 0) continue;
    const OfFunction& of = functions[sum->key.function];
    SiteTotal& total = total_of(begin->key, sum->key.function, sum->key.site);
    OfSite site;
    if (const auto found = sites.find({sum->key.function, sum->key.site}); found != sites.end()) site = found->second;
    // No spell that represents others has calls at this site. The others may have such calls nevertheless.
    else if (of.counted > 0)
      site.calls.error = site.ticks.error = site.bytes.error = std::nullopt;
    if (of.counted > 0 && !has_errors(of)) site.calls.error = site.ticks.error = site.bytes.error = std::nullopt;
    if (site.ticks.error) *site.ticks.error *= tick_ns;
    total.measured_calls += sum->timed_calls;
    total.calls += static_cast<double>(sum->timed_calls) + site.calls.value;
    total.time_ns += static_cast<double>(sum->time_ns) + site.ticks.value * tick_ns;
    total.bytes += static_cast<double>(sum->bytes) + site.bytes.value;
    reader::add(total.calls_error, site.calls.error);
    reader::add(total.time_error_ns, with_error_of_sample(site.ticks.error, *sum));
    reader::add(total.bytes_error, site.bytes.error);
  }
  for (const auto& [function, of] : functions) {
    const double rest = of.counted - of.at_sites;
    if (rest < less_than_a_call) continue;
    SiteTotal& total = total_of(begin->key, function, -1);
    total.calls += rest;
    total.time_ns += extrapolated(rest, of.measured, of.time_ns).value;
    total.bytes += extrapolated(rest, of.measured, of.bytes).value;
    if (of.sums != nullptr) total.calls_error = std::nullopt;
    total.time_error_ns = total.bytes_error = std::nullopt;
  }
}

SiteTotal& SiteTotals::total_of(const SumKey& process, std::uint16_t function, std::int32_t site) {
  const SumKey key = by_rank_ ? process : SumKey{.world = process.world};
  SiteTotal& total = totals_[{key.world, key.rank, key.process, function, site}];
  total.world = key.world;
  total.rank = key.rank;
  total.process = key.process;
  total.function = function;
  total.site = site;
  return total;
}

std::int32_t SiteTotals::standing_for(std::int32_t site) const {
  const auto number = static_cast<std::size_t>(site);
  return site >= 0 && number < site_of_.size() ? site_of_[number] : site;
}

std::vector<SiteTotal> SiteTotals::take() {
  std::vector<SiteTotal> totals;
  totals.reserve(totals_.size());
  for (auto& [key, total] : totals_) totals.push_back(total);
  totals_.clear();
  return totals;
}

}  // namespace tare::reader
