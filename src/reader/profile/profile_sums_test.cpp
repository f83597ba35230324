#include "reader/profile/profile_sums.h"

#include <gtest/gtest.h>

#include "reader/run/run.h"
#include "reader/testing/synthetic.h"

namespace tare::reader {
namespace {

using namespace synthetic;
using format::ProcessState;

constexpr std::uint32_t ranks = 1000;  // enough for several threads

// Rank r sends r + 1 times from site 1 and receives once from site 2. Each rank numbers its sites differently.
std::string many_ranks() {
  std::string file = functions_chunk();
  const unsigned pid = dead_pid();
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    format::ProcessRecord process = process_record(rank, ProcessState::exited, pid);
    process.size = static_cast<std::int32_t>(ranks);
    const std::uint32_t n = rank % 7;
    const std::string log = python_site_definition(n + 1, "a.py", "f", 1) +
                            python_site_definition(n + 2, "a.py", "f", 2) +
                            communicator_definition(1, ranks, "MPI_COMM_WORLD");
    file += process_chunk(process) + definitions_chunk(process, log) +
            profile_chunk(process, 0,
                          {profile_row("MPI_Send", n + 1, rank + 1, 100 * (rank + 1), 8 * (rank + 1)),
                           profile_row("MPI_Recv", n + 2, 1, 500, 16)},
                          {{function_number("MPI_Wtime"), 2}}) +
            profile_chunk(process, 1, {profile_row("MPI_Recv", n + 2, 1, 300, 16)});
  }
  return file;
}

class ProfileSumsTest : public ::testing::Test {
 protected:
  std::vector<ProfileSum> sums(const SumsQuery& query) { return run_.profile_sums(query); }
  std::string name(const ProfileSum& sum) const { return run_.functions().name(sum.key.function); }

  const std::string file_ = many_ranks();
  reader::Run run_ = std::move(*reader::Run::of_memory(file_));
};

TEST_F(ProfileSumsTest, AllInOne) {
  const auto all = sums({});
  ASSERT_EQ(all.size(), 1U);
  const std::uint64_t sends = ranks * (ranks + 1) / 2;
  EXPECT_EQ(all[0].calls, sends + 2 * ranks + 2 * ranks);
  EXPECT_EQ(all[0].time_ns, static_cast<std::int64_t>(100 * sends + 800 * ranks));
  EXPECT_EQ(all[0].bytes, 8 * sends + 32 * ranks);
  EXPECT_EQ(all[0].ranks, ranks);
  EXPECT_EQ(all[0].rank_time_max_ns, 100 * ranks + 800);
  EXPECT_EQ(all[0].rank_time_max_at, static_cast<std::int32_t>(ranks - 1));
  EXPECT_EQ(all[0].rank_time_min_ns, 900);
  EXPECT_EQ(all[0].rank_time_min_at, 0);
}

TEST_F(ProfileSumsTest, BySiteAndFunction) {
  const auto rows = sums({.function = true, .site = true});
  ASSERT_EQ(rows.size(), 3U);
  std::uint64_t found = 0;
  for (const ProfileSum& row : rows) {
    if (name(row) != "MPI_Recv") continue;
    ++found;
    EXPECT_EQ(row.calls, 2 * ranks);
    EXPECT_EQ(row.min_ns, 150) << "half of the shortest sum";
    EXPECT_EQ(row.max_ns, 500);
    EXPECT_EQ(row.rank_time_min_ns, 800) << "both threads of a rank are one";
    EXPECT_EQ(row.rank_time_max_at, 0) << "of equal ones the first";
    EXPECT_EQ(row.rank_time_min_at, 0);
    EXPECT_EQ(run_.sites()[static_cast<std::size_t>(row.key.site)].symbol.line, 2U);
  }
  EXPECT_EQ(found, 1U);
}

TEST_F(ProfileSumsTest, LookupsAreCountedOnly) {
  const auto rows = sums({.function = true, .functions = {{"MPI_Wtime"}}});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].calls, 2 * ranks);
  EXPECT_EQ(rows[0].counted, 2 * ranks);
  EXPECT_EQ(rows[0].timed_calls, 0U);
  EXPECT_EQ(rows[0].time_ns, 0);
  EXPECT_EQ(rows[0].ranks, 0U) << "no rank has spent time in them";
}

TEST_F(ProfileSumsTest, SeveralInOnePass) {
  const SumsQuery by_function{.function = true, .functions = {{"MPI_Send"}}};
  const SumsQuery of_a_rank{.rank = true, .ranks = {{5}}};
  const auto both = run_.answer({.sums = {by_function, of_a_rank}}).sums;
  ASSERT_EQ(both.size(), 2U);
  ASSERT_EQ(both[0].size(), 1U);
  EXPECT_EQ(name(both[0][0]), "MPI_Send");
  EXPECT_EQ(both[0][0].calls, ranks * (ranks + 1) / 2);
  EXPECT_EQ(both[0][0].rank_time_min_at, 0);
  ASSERT_EQ(both[1].size(), 1U);
  EXPECT_EQ(both[1][0].calls, 10U);
  EXPECT_EQ(both[1][0].timed_calls, 8U);
}

// A call is a call, whether it was measured, only counted, or is left without its time.
TEST_F(ProfileSumsTest, UntimedFunctionsHaveCallsAlone) {
  const auto timed = sums({.rank = true}), untimed = sums({.rank = true, .untimed = {"MPI_Recv"}});
  ASSERT_EQ(untimed.size(), ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    EXPECT_EQ(untimed[rank].calls, timed[rank].calls);
    EXPECT_EQ(untimed[rank].counted, 2U);
    EXPECT_EQ(untimed[rank].timed_calls, rank + 1);
    EXPECT_EQ(untimed[rank].time_ns, 100 * (static_cast<std::int64_t>(rank) + 1));
    EXPECT_EQ(untimed[rank].bytes, 8 * (rank + 1));
  }
  const auto none = sums({.function = true, .functions = {{"MPI_Recv"}}, .untimed = {"MPI_Recv"}});
  ASSERT_EQ(none.size(), 1U);
  EXPECT_EQ(none[0].calls, 2 * ranks);
  EXPECT_EQ(none[0].ranks, 0U);
  EXPECT_EQ(none[0].max_ns, 0);
}

TEST_F(ProfileSumsTest, ByRankInOrderAndFiltered) {
  const auto all = sums({.rank = true});
  ASSERT_EQ(all.size(), ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    ASSERT_EQ(all[rank].key.rank, static_cast<std::int32_t>(rank));
    ASSERT_EQ(all[rank].calls, rank + 5);
  }
  const auto two = sums({.rank = true, .function = true, .ranks = {{3, 5, 7000}}, .functions = {{"MPI_Send"}}});
  ASSERT_EQ(two.size(), 2U);
  EXPECT_EQ(two[1].key.rank, 5);
  EXPECT_EQ(two[1].calls, 6U);
}

TEST_F(ProfileSumsTest, SitesAndCommunicatorsTakenForOne) {
  const auto rows = sums({.site = true, .site_of = {1, 1}, .communicators = {{0}}});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].key.site, 1);
  EXPECT_EQ(rows[0].ranks, ranks) << "each rank once, with all that is one";
  EXPECT_EQ(rows[0].rank_time_min_ns, 900);
  const auto renamed = sums({.communicator = true, .communicator_of = {7}, .communicators = {{7}}});
  ASSERT_EQ(renamed.size(), 1U);
  EXPECT_EQ(renamed[0].key.communicator, 7);
  EXPECT_TRUE(sums({.communicators = {{7}}}).empty());
  EXPECT_TRUE(sums({.worlds = {{1}}}).empty());
}

TEST_F(ProfileSumsTest, TotalsOfAProcess) {
  EXPECT_EQ(run_.totals(9).calls, 12U);
  EXPECT_EQ(run_.totals(9).counted, 2U);
  EXPECT_EQ(run_.totals(9).net_ticks, 1800U);
}

// A helper thread of a rank, as one that waits for commands, takes none of the time of the rank.
TEST(SumsOfCallers, LeaveOutThreadsThatDoNotCallMpi) {
  const std::vector<format::ProfileRow> reads = {profile_row("read", 1, 5, 1000, 0)};
  const auto read_ns = [&](std::int32_t rank) {
    format::ProcessRecord process = process_record(0, ProcessState::exited);
    process.rank = rank;
    std::vector<format::ProfileRow> of_first = reads;
    if (rank >= 0) of_first.push_back(profile_row("MPI_Init", 1, 1, 10, 0));
    Profile of_helper;
    of_helper.rows = reads;
    of_helper.summary.number = 1;
    const std::string file = functions_chunk() + process_chunk(process) + profile_chunk(process, 0, of_first) +
                             profile_chunk(process, 1, of_helper);
    reader::Run run = std::move(*reader::Run::of_memory(file));
    const auto sums = run.profile_sums({.functions = {{"read"}}, .callers_alone = true});
    return sums.size() == 1 ? sums[0].time_ns : -1;
  };
  EXPECT_EQ(read_ns(0), 1000);
  EXPECT_EQ(read_ns(-1), 1000) << "without MPI, the first thread is left";
}

}  // namespace
}  // namespace tare::reader
