// Totals by function and call site over the whole run, including the spells of --weigh and --budget in which tare only
// counts calls (recorder/spells.h).
//
// Such spells do not record call sites. So unless all calls were measured, the number of calls of a site is an
// estimate, too: a part of the counted calls of the function, whose number is exact (counted_calls.h).
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

// Errors are half the widths of 95 % confidence intervals; 0: exact; nothing: not known (Estimate::error).
struct SiteTotal {
  std::int32_t world = -1, rank = -1;
  std::int32_t process = -1;   // of the rank: index in Run::processes()
  std::uint16_t function = 0;  // number in Run::functions()
  std::int32_t site = -1;  // index in Run::sites(); -1: counted calls whose site is not known, or calls without site
  double calls = 0;
  std::optional<double> calls_error = 0;
  std::uint64_t measured_calls = 0;  // part of `calls`
  double time_ns = 0;
  std::optional<double> time_error_ns = 0;
  double bytes = 0;  // without ProfileSum::received
  std::optional<double> bytes_error = 0;
};

// Adds up the totals of one process after another.
class SiteTotals {
 public:
  // `site_of`: SumsQuery::site_of. `by_rank`: one total for each process; else totals over the ranks of a world, with
  // rank -1. Errors of ranks, and of merged sites, are added up linearly: all ranks of a node measure the same spells,
  // so their errors may be correlated.
  SiteTotals(std::vector<std::int32_t> site_of, bool by_rank) : site_of_(std::move(site_of)), by_rank_(by_rank) {}

  // `sums`: the result of a query of some processes by world, rank, function and site with the same site_of. Functions
  // that are not in it are left out.
  void add(const std::vector<Process>& processes, const std::vector<ProfileSum>& sums);
  // Sorted by world, rank, function and site.
  std::vector<SiteTotal> take();

 private:
  using Key = std::tuple<std::int32_t, std::int32_t, std::int32_t, std::uint16_t, std::int32_t>;

  void add(const Process& process, const ProfileSum* begin, const ProfileSum* end);
  SiteTotal& total_of(const SumKey& process, std::uint16_t function, std::int32_t site);
  std::int32_t standing_for(std::int32_t site) const;

  std::vector<std::int32_t> site_of_;
  bool by_rank_;
  std::map<Key, SiteTotal> totals_;
};

}  // namespace tare::reader
