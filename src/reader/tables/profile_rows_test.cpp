#include "reader/tables/profile_rows.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "reader/model/account.h"
#include "reader/testing/synthetic.h"

namespace tare::reader {
namespace {

using namespace synthetic;
using format::ProcessState;

format::CommunicatorDefinition communicator(std::uint32_t number, std::uint64_t key) {
  format::CommunicatorDefinition made{};
  made.communicator = number;
  made.group = 1;
  made.size = 2;
  made.key = key;
  return made;
}

// Three ranks, of which the last one makes no call. Rank 0 sends from two lines, of which one is called from two
// others; both reduce on two communicators.
class ProfileRows : public ::testing::Test {
 protected:
  using Calls = std::map<std::string, std::uint64_t>;

  static std::string file() {
    const std::string log =
        python_frame_definition(1, "comm.py", "exchange", 12) + python_frame_definition(2, "main.py", "main", 50) +
        python_frame_definition(3, "main.py", "main", 60) + python_frame_definition(4, "setup.py", "setup", 7) +
        path_definition(1, {1, 2}) + path_definition(2, {1, 3}) + path_definition(3, {4}) +
        group_definition(1, {{0, 1, 2}}) + communicator_definition(communicator(1, 0x77), "left") +
        communicator_definition(communicator(2, 0x88));
    std::string all = functions_chunk();
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
      format::ProcessRecord process = process_record(rank, ProcessState::exited);
      process.size = 3;
      all += process_chunk(process) + definitions_chunk(process, log);
      if (rank == 2) continue;
      std::vector<format::ProfileRow> rows = {profile_row("MPI_Allreduce", 3, 1, rank == 0 ? 100 : 400, 8, 1),
                                              profile_row("MPI_Allreduce", 3, 1, rank == 0 ? 1000 : 1500, 8, 2)};
      if (rank == 0) {
        rows.push_back(profile_row("MPI_Send", 1, 4, 150, 4000));
        rows.push_back(profile_row("MPI_Send", 2, 2, 20, 40));
        rows.push_back(profile_row("MPI_Send", 3, 1, 10, 0));
        rows.push_back(profile_row("MPI_Init", 3, 1, 2000, 0));
      }
      all += profile_chunk(process, 0, rows, {{function_number("MPI_Comm_rank"), 4}});
    }
    return all;
  }

  std::vector<ProfileRowSum> rows(const ProfileKeys& keys, const ProfileChoice& choice = {}) {
    return profile_rows(run_, keys, choice);
  }
  const std::string& name(const ProfileRowSum& row) const { return run_.functions().name(row.sum.key.function); }
  Calls calls(const ProfileChoice& choice) {
    Calls found;
    for (const ProfileRowSum& row : rows({.function = true}, choice)) found[name(row)] = row.sum.calls;
    return found;
  }

  const std::string file_ = file();
  reader::Run run_ = std::move(*reader::Run::of_memory(file_));
};

TEST_F(ProfileRows, ByFunctionAreSumsOfRanksAndSites) {
  EXPECT_EQ(calls({}), (Calls{{"MPI_Allreduce", 4}, {"MPI_Comm_rank", 8}, {"MPI_Init", 1}, {"MPI_Send", 7}}));
}

TEST_F(ProfileRows, OfOneLineThatTwoCallAreTwoSitesAndOneLine) {
  const auto sends = [this](const ProfileKeys& keys) {
    std::vector<std::uint64_t> found;
    for (const ProfileRowSum& row : rows(keys, {.functions = std::vector<std::string>{"MPI_Send"}}))
      found.push_back(row.sum.calls);
    return found;
  };
  EXPECT_EQ(sends({.site = true}), (std::vector<std::uint64_t>{4, 2, 1}));
  EXPECT_EQ(sends({.line = true}), (std::vector<std::uint64_t>{6, 1}));
}

TEST_F(ProfileRows, HaveTheTimeOfInitOnlyByFunctionOrPlace) {
  std::int64_t by_function = 0, by_size = 0;
  for (const ProfileRowSum& row : rows({.function = true})) by_function += row.sum.time_ns;
  for (const ProfileRowSum& row : rows({.size = true})) by_size += row.sum.time_ns;
  EXPECT_EQ(by_function - by_size, 2000);
}

TEST_F(ProfileRows, ImbalanceIsTheTimeBeyondThatOfTheLastRank) {
  std::map<std::string, std::optional<std::int64_t>> found;
  for (const ProfileRowSum& row : rows({.function = true})) found[name(row)] = row.imbalance_ns;
  EXPECT_EQ(found["MPI_Allreduce"], 300 + 500);
  EXPECT_EQ(found["MPI_Send"], std::nullopt);
  std::vector<std::optional<std::int64_t>> by_communicator;
  for (const ProfileRowSum& row :
       rows({.communicator = true}, {.functions = std::vector<std::string>{"MPI_Allreduce"}}))
    by_communicator.push_back(row.imbalance_ns);
  EXPECT_EQ(by_communicator, (std::vector<std::optional<std::int64_t>>{300, 500}));
}

TEST_F(ProfileRows, AreChosen) {
  const std::vector<std::string> send{"MPI_Send"}, left{"left"}, unnamed{"#1"}, none{"none"};
  EXPECT_EQ(calls({.functions = send}), (Calls{{"MPI_Send", 7}}));
  EXPECT_EQ(calls({.ranks = std::vector{1}}), (Calls{{"MPI_Allreduce", 2}, {"MPI_Comm_rank", 4}}));
  EXPECT_EQ(calls({.functions = send, .ranks = std::vector{1}}), Calls{});
  EXPECT_EQ(calls({.communicators = unnamed}), (Calls{{"MPI_Allreduce", 2}}));
  EXPECT_EQ(calls({.functions = send, .communicators = left}), (Calls{{"MPI_Send", 7}}));
  EXPECT_EQ(calls({.communicators = none}), Calls{});
  EXPECT_EQ(calls({.worlds = std::vector{1}}), Calls{});
}

TEST_F(ProfileRows, ByRankHaveNoShareOfMoreThanAll) {
  const format::ProcessRecord process = process_record(0, ProcessState::exited);
  const format::ProfileRow row = profile_row("MPI_Isend", 1, 100, 1'000'000'000'000, 0);  // an estimate, of timed calls
  const std::string of_one = functions_chunk() + process_chunk(process) + profile_chunk(process, 0, {row});
  reader::Run run = std::move(*reader::Run::of_memory(of_one));
  const auto found = profile_rows(run, {.rank = true}, {});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].mpi_share, 1.0);
}

TEST_F(ProfileRows, ByRankAloneAreOfEveryProcess) {
  const auto all = rows({.rank = true});
  ASSERT_EQ(all.size(), 3U);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Account account = account_of(run_.processes()[i], run_.totals(i));
    EXPECT_EQ(all[i].sum.time_ns, account.mpi_ns);
    EXPECT_EQ(all[i].mpi_share, mpi_share(account));
  }
  EXPECT_EQ(all[0].sum.calls, 14U);
  EXPECT_EQ(all[2].sum.calls, 0U);
  const auto sends = rows({.rank = true}, {.functions = std::vector<std::string>{"MPI_Send"}, .ranks = std::vector{0}});
  ASSERT_EQ(sends.size(), 1U);
  EXPECT_EQ(sends[0].sum.time_ns, 180);
  EXPECT_FALSE(sends[0].whole.calls) << "all calls were measured";
}

// Rank 0 reduces 8 bytes in 100, writes 8 bytes in 30 and waits 7 in OpenMP, all within a parallel region.
class ProfileRowsOfSeveralSources : public ::testing::Test {
 protected:
  struct Sum {
    std::uint64_t calls;
    std::int64_t time_ns;
    std::uint64_t bytes;
    bool operator==(const Sum&) const = default;
  };

  static std::string file() {
    const format::ProcessRecord process = process_record(0, ProcessState::exited);
    return functions_chunk() + process_chunk(process) +
           definitions_chunk(
               process, group_definition(1, {{0, 1, 1}}) + communicator_definition(communicator(1, 0x77), "left")) +
           profile_chunk(process, 0,
                         {profile_row("MPI_Allreduce", 1, 2, 100, 8, 1), profile_row("write", 1, 3, 30, 8, 1),
                          profile_row("omp_barrier", 1, 1, 7, 0), profile_row("omp_parallel", 1, 1, 5000, 0)},
                         {{function_number("MPI_Comm_rank"), 4}});
  }
  std::vector<Sum> sums(const ProfileKeys& keys, const ProfileChoice& choice = {}) {
    std::vector<Sum> found;
    for (const ProfileRowSum& row : profile_rows(run_, keys, choice))
      found.push_back({row.sum.calls, row.sum.time_ns, row.sum.bytes});
    return found;
  }

  const std::vector<std::string> write_{"write"};
  const std::string file_ = file();
  reader::Run run_ = std::move(*reader::Run::of_memory(file_));
};

TEST_F(ProfileRowsOfSeveralSources, ByCommunicatorAndByRankAreOfMpiAlone) {
  EXPECT_EQ(sums({.communicator = true}), (std::vector<Sum>{{4, 0, 0}, {2, 100, 8}}));
  EXPECT_EQ(sums({.communicator = true, .rank = true}), (std::vector<Sum>{{4, 0, 0}, {2, 100, 8}}));
  EXPECT_EQ(sums({.communicator = true}, {.functions = write_}), std::vector<Sum>{});
  EXPECT_EQ(sums({.rank = true}), (std::vector<Sum>{{6, 100, 8}}));
  EXPECT_EQ(sums({.rank = true}, {.functions = write_}), (std::vector<Sum>{{3, 30, 8}}));
  EXPECT_EQ(profile_rows(run_, {.rank = true}, {.functions = write_}).front().mpi_share, std::nullopt);
}

// Processes without MPI have no ranks.
TEST(ProfileRowsWithoutMpi, ByRankAreOfEachProcess) {
  std::string file = functions_chunk();
  for (std::uint32_t number = 0; number < 2; ++number) {
    format::ProcessRecord process = process_record(number, ProcessState::exited);
    process.rank = -1;
    file += process_chunk(process) + profile_chunk(process, 0, {profile_row("write", 1, 3 + number, 30, 8)});
  }
  reader::Run run = std::move(*reader::Run::of_memory(file));
  const ProfileChoice writes{.functions = std::vector<std::string>{"write"}};
  for (const ProfileKeys& keys : {ProfileKeys{.rank = true}, ProfileKeys{.function = true, .rank = true}}) {
    const std::vector<ProfileRowSum> rows = profile_rows(run, keys, writes);
    ASSERT_EQ(rows.size(), 2U);
    for (std::uint32_t number = 0; number < 2; ++number) {
      EXPECT_EQ(rows[number].sum.calls, 3 + number);
      EXPECT_EQ(rows[number].sum.key.process, static_cast<std::int32_t>(number));
    }
  }
}

TEST_F(ProfileRowsOfSeveralSources, BySizeHaveNothingThatContainsOtherCalls) {
  EXPECT_EQ(sums({.size = true}), (std::vector<Sum>{{5, 7, 0}, {5, 130, 16}}));
  const std::vector<std::string> parallel{"omp_parallel"};
  EXPECT_EQ(sums({.size = true}, {.functions = parallel}), (std::vector<Sum>{{1, 5000, 0}}));
}

TEST_F(ProfileRows, AreTheSameIfTheyWereExpected) {
  const ProfileKeys by_line{.line = true};
  const ProfileChoice of_one{.ranks = std::vector{0}};
  reader::Run asked = std::move(*reader::Run::of_memory(file_));
  asked.expect(profile_questions(asked, by_line, {}));
  asked.expect({.exchanges = {4}});
  const auto same = [](const std::vector<ProfileRowSum>& a, const std::vector<ProfileRowSum>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const ProfileRowSum& one, const ProfileRowSum& other) {
      return one.sum.key == other.sum.key && one.sum.calls == other.sum.calls && one.sum.time_ns == other.sum.time_ns &&
             one.imbalance_ns == other.imbalance_ns;
    });
  };
  // The first question is another one; the answers to what is expected are kept.
  EXPECT_TRUE(same(profile_rows(asked, {.function = true}, of_one), rows({.function = true}, of_one)));
  EXPECT_TRUE(same(profile_rows(asked, by_line, {}), rows(by_line)));
  EXPECT_TRUE(same(profile_rows(asked, by_line, {}), rows(by_line)));
  EXPECT_EQ(asked.answer({.exchanges = {4}}).exchanges.front().size(), 1U);
}

}  // namespace
}  // namespace tare::reader
