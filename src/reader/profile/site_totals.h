// What the calls of each function at each call site have in the whole run, also in spells of which tare only counts the
// calls: those of a trial or a budget (recorder/spells.h).
//
// Such spells do not look at call sites. So the calls of a site are an estimate, too, unless all were measured: a part
// of the counted calls of the function, whose number is exact (counted_calls.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "reader/model/process.h"
#include "reader/profile/profile_sums.h"

namespace tare::reader {

// Errors are half the widths of 95 % confidence intervals; 0: exact; nothing: not known, as Estimate::error.
struct SiteTotal {
  std::int32_t world = -1, rank = -1;
  std::uint16_t function = 0;  // number in Run::functions()
  std::int32_t site = -1;      // index in Run::sites(); -1: counted calls of which no site is known, or without site
  double calls = 0;
  std::optional<double> calls_error = 0;
  std::uint64_t measured_calls = 0;  // of them
  double time_ns = 0;
  std::optional<double> time_error_ns = 0;
  double bytes = 0;  // without ProfileSum::received
  std::optional<double> bytes_error = 0;
};

// Adds up the totals of process after process.
class SiteTotals {
 public:
  // `site_of`: as SumsQuery::site_of. `by_rank`: else sums over the ranks of a world, whose rank is -1. The same spells
  // are measured on all ranks of a node, so that errors may have one direction: they add up, also those of sites that
  // are taken for one.
  SiteTotals(std::vector<std::int32_t> site_of, bool by_rank) : site_of_(std::move(site_of)), by_rank_(by_rank) {}

  // `sums`: of some processes, sorted, by world, rank, function and site, where site_of has been applied. Functions
  // that are not in it are left out.
  void add(const std::vector<Process>& processes, const std::vector<ProfileSum>& sums);
  // Sorted by world, rank, function and site.
  std::vector<SiteTotal> take();

 private:
  using Key = std::tuple<std::int32_t, std::int32_t, std::uint16_t, std::int32_t>;

  void add(const Process& process, const ProfileSum* begin, const ProfileSum* end);
  SiteTotal& total_of(const Process& process, std::uint16_t function, std::int32_t site);
  std::int32_t standing_for(std::int32_t site) const;

  std::vector<std::int32_t> site_of_;
  bool by_rank_;
  std::map<Key, SiteTotal> totals_;
};

}  // namespace tare::reader
