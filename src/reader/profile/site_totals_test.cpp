#include "reader/profile/site_totals.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "reader/run/run.h"
#include "reader/testing/synthetic.h"

namespace tare::reader {
namespace {

using namespace synthetic;
using format::ProcessState;
using format::SpellSums;

constexpr std::uint32_t ranks = 3;

// The sums over four spells of weight 2. Each has `calls` calls of 10 ticks and 8 bytes at the site, and 4 calls of the
// function at all sites.
SpellSums sums(std::string_view function, std::uint32_t site, double calls) {
  constexpr double spells = 4, products = spells * 2;
  const double ticks = 10 * calls, bytes = 8 * calls, all = 4;
  return {function_number(function),
          site,
          4,
          0,
          spells * calls,
          spells * ticks,
          spells * bytes,
          products * calls * calls,
          products * ticks * ticks,
          products * bytes * bytes,
          products * calls * all,
          products * ticks * all,
          products * bytes * all};
}

// Each rank sends from three sites and receives at one. The spells that represent others have calls at two of the three
// sending sites, or, if the table was full, at one.
std::string file(bool was_full = false, bool has_ranks = true) {
  std::string bytes = functions_chunk();
  const unsigned pid = dead_pid();
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    format::ProcessRecord process = process_record(rank, ProcessState::exited, pid);
    process.size = static_cast<std::int32_t>(ranks);
    if (!has_ranks) process.rank = -1;
    std::string log;
    for (std::uint32_t site = 1; site <= 4; ++site)
      log += python_site_definition(site, "a.py", "f", static_cast<std::int32_t>(site));
    std::string payload;
    payload += bytes_of(sums("MPI_Send", format::all_sites, 4)) + bytes_of(sums("MPI_Send", 1, 3));
    if (!was_full) payload += bytes_of(sums("MPI_Send", 2, 1));
    format::ChunkHeader identity{};
    identity.type = format::ChunkType::spell_sums;
    identity.process = process.process;
    bytes += process_chunk(process) + definitions_chunk(process, log) +
             profile_chunk(process, 0,
                           {profile_row("MPI_Send", 1, 40, 400, 320), profile_row("MPI_Send", 2, 20, 200, 160),
                            profile_row("MPI_Send", 3, 5, 500, 0), profile_row("MPI_Recv", 4, 7, 700, 56)},
                           {{function_number("MPI_Send"), has_ranks ? 100 : 100 * (rank + 1)},
                            {function_number("MPI_Wtime"), 2}}) +
             chunk(identity, payload);
  }
  return bytes;
}

const SiteTotal& of(const Run& run, const std::vector<SiteTotal>& totals, std::string_view function,
                    std::int32_t site) {
  for (const SiteTotal& total : totals)
    if (run.functions().name(total.function) == function && total.site == site) return total;
  ADD_FAILURE() << "no " << function << " at " << site;
  return totals.front();
}

class SiteTotalsTest : public ::testing::Test {
 protected:
  const SiteTotal& find(const std::vector<SiteTotal>& totals, std::string_view function, std::int32_t site) const {
    return of(run_, totals, function, site);
  }

  const std::string file_ = file();
  reader::Run run_ = std::move(*reader::Run::of_memory(file_));
};

TEST_F(SiteTotalsTest, CountedCallsAreSharedOutAmongSites) {
  const std::vector<SiteTotal> totals = run_.site_totals({.rank = true});
  ASSERT_EQ(totals.size(), 5 * ranks);
  const SiteTotal& first = find(totals, "MPI_Send", 0);
  EXPECT_EQ(first.rank, 0);
  EXPECT_EQ(first.measured_calls, 40U);
  EXPECT_NEAR(first.calls, 40 + 75, 1e-9);
  EXPECT_NEAR(first.bytes, 320 + 8 * 75, 1e-6);
  const double tick_ns = run_.processes()[0].clock.rate();
  EXPECT_NEAR(first.time_ns, (400 + 10 * 75) * tick_ns, 1e-6 * first.time_ns);
  for (const auto& error : {first.calls_error, first.time_error_ns, first.bytes_error}) {
    ASSERT_TRUE(error.has_value());
    EXPECT_NEAR(*error, 0, 1e-5) << "all spells are alike";
  }
  EXPECT_NEAR(find(totals, "MPI_Send", 1).calls, 20 + 25, 1e-9);
}

TEST_F(SiteTotalsTest, WhatNoSpellStandsForIsNotKnown) {
  const std::vector<SiteTotal> totals = run_.site_totals({.rank = true});
  const SiteTotal& unseen = find(totals, "MPI_Send", 2);
  EXPECT_EQ(unseen.calls, 5);
  EXPECT_FALSE(unseen.calls_error.has_value());
  EXPECT_FALSE(unseen.time_error_ns.has_value());
  const SiteTotal& counted = find(totals, "MPI_Wtime", -1);
  EXPECT_EQ(counted.calls, 2);
  EXPECT_EQ(counted.calls_error, 0.0);
  EXPECT_EQ(counted.measured_calls, 0U);
  EXPECT_FALSE(counted.time_error_ns.has_value());
}

TEST_F(SiteTotalsTest, WhatWasMeasuredIsExact) {
  const std::vector<SiteTotal> totals = run_.site_totals({.rank = true});
  const SiteTotal& receives = find(totals, "MPI_Recv", 3);
  EXPECT_EQ(receives.calls, 7);
  EXPECT_EQ(receives.calls_error, 0.0);
  EXPECT_EQ(receives.time_error_ns, 0.0);
  EXPECT_EQ(receives.bytes, 56);
}

TEST_F(SiteTotalsTest, RanksAndSitesAddUp) {
  const std::vector<SiteTotal> totals = run_.site_totals({.site_of = {0, 0, 2, 3}});
  ASSERT_EQ(totals.size(), 4U);
  const SiteTotal& sends = find(totals, "MPI_Send", 0);
  EXPECT_EQ(sends.rank, -1);
  EXPECT_EQ(sends.measured_calls, 60 * ranks);
  EXPECT_NEAR(sends.calls, 160 * ranks, 1e-6);
  const std::vector<SiteTotal> of_one = run_.site_totals({.site_of = {0, 0, 2, 3}, .ranks = std::vector{1}});
  EXPECT_NEAR(find(of_one, "MPI_Send", 0).calls, 160, 1e-6);
}

// Counted calls whose sites are not known are kept, without a site.
TEST(SiteTotals, CallsOfSitesThatFoundNoRoomAreKept) {
  const std::string bytes = file(true);
  reader::Run run = std::move(*reader::Run::of_memory(bytes));
  const std::vector<SiteTotal> totals = run.site_totals({.rank = true});
  EXPECT_NEAR(of(run, totals, "MPI_Send", 0).calls, 40 + 75, 1e-9);
  EXPECT_EQ(of(run, totals, "MPI_Send", 1).calls, 20);
  EXPECT_FALSE(of(run, totals, "MPI_Send", 1).calls_error.has_value());
  EXPECT_NEAR(of(run, totals, "MPI_Send", -1).calls, 25, 1e-9);
  EXPECT_FALSE(of(run, totals, "MPI_Send", -1).calls_error.has_value());
}

// Processes without MPI have no ranks. Each has its own counted calls.
TEST(SiteTotals, AreOfEachProcess) {
  const std::string bytes = file(false, false);
  reader::Run run = std::move(*reader::Run::of_memory(bytes));
  const std::vector<SiteTotal> totals = run.site_totals({.rank = true});
  ASSERT_EQ(totals.size(), 5 * ranks);
  std::vector<double> calls;
  for (const SiteTotal& total : totals)
    if (run.functions().name(total.function) == "MPI_Send" && total.site == 0) calls.push_back(total.calls);
  ASSERT_EQ(calls.size(), ranks);
  for (std::uint32_t number = 0; number < ranks; ++number) EXPECT_NEAR(calls[number], 40 + 75 * (number + 1), 1e-9);
}

}  // namespace
}  // namespace tare::reader
