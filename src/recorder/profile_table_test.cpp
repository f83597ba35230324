#include "recorder/profile_table.h"

#include <gtest/gtest.h>

#include <set>

#include "recorder/testing/made_location.h"

namespace tare::recorder {
namespace {

constexpr std::uint32_t capacity = 64;
constexpr std::uint16_t send = 7;
constexpr std::uint32_t world = 1;
constexpr std::uint32_t far_family = 100;  // one of those that share rows when half of the table is full

struct ProfileTableTest : testing::Test {
  std::uint32_t number_of(const format::ProfileRow& row) const { return static_cast<std::uint32_t>(&row - table.rows); }
  // Calls of new sites until the table has so many rows.
  void fill(std::uint32_t rows) {
    for (std::uint32_t site = 1000; table.shared().summary.rows < rows; ++site) table.row(site, send, 3, world);
  }

  MadeLocation made{capacity};
  ProfileTable& table = made.location.profile;
};

TEST_F(ProfileTableTest, EachSiteFunctionSizeAndCommunicatorHasARow) {
  std::set<std::uint32_t> numbers;
  for (const std::uint32_t site : {1U, 2U})
    for (const std::uint16_t function : {send, std::uint16_t{8}})
      for (const std::uint8_t size_class : {std::uint8_t{3}, std::uint8_t{4}})
        for (const std::uint32_t communicator : {world, world + 1}) {
          const std::uint32_t number = number_of(table.row(site, function, size_class, communicator));
          EXPECT_TRUE(numbers.insert(number).second);
          EXPECT_EQ(number_of(table.row(site, function, size_class, communicator)), number) << "it stays";
        }
  EXPECT_EQ(numbers.count(0), 0U) << "row 0 is no call's";
  EXPECT_EQ(table.shared().summary.rows, 1 + numbers.size());
}

TEST_F(ProfileTableTest, FromAHalfOnFurtherCommunicatorsShareARow) {
  fill(capacity / 2 - 1);
  const std::uint32_t before = number_of(table.row(1, send, 3, far_family));
  EXPECT_EQ(table.rows[before].communicator, far_family);
  EXPECT_EQ(table.shared().summary.full, 0U);
  const std::uint32_t shared = number_of(table.row(2, send, 3, far_family));
  EXPECT_EQ(shared, number_of(table.row(2, send, 3, far_family + 1)));
  EXPECT_EQ(table.rows[shared].communicator, format::no_communicator);
  EXPECT_EQ(table.rows[shared].site, 2U);
  EXPECT_EQ(table.shared().summary.full, format::merged_communicators);
  EXPECT_EQ(table.rows[number_of(table.row(2, send, 3, world))].communicator, world);
}

TEST_F(ProfileTableTest, TheLastQuarterIsForFunctionsWithoutCallSite) {
  fill(capacity - capacity / 4);
  const std::uint32_t of_function = number_of(table.row(1, send, 3, world));
  EXPECT_EQ(of_function, capacity - capacity / 4);
  EXPECT_EQ(table.rows[of_function].site, 0U);
  EXPECT_EQ(number_of(table.row(2, send, 9, far_family)), of_function);
  EXPECT_EQ(table.shared().summary.full & format::full_rows, format::full_rows);
  for (std::uint16_t function = 100; function < 100 + capacity; ++function) table.row(1, function, 3, world);
  EXPECT_EQ(table.shared().summary.rows, capacity);
  EXPECT_EQ(number_of(table.row(1, 999, 3, world)), 0U) << "nor is there room for another function";
}

TEST(ProfileTable, HasRoomForEveryFunctionWhenTheSitesHaveNone) {
  const MadeLocation made{usual_rows};
  ProfileTable table = made.location.profile;
  for (std::uint32_t site = 1; site <= rows_of_sites; ++site) table.row(site, send, 3, world);
  EXPECT_EQ(table.shared().summary.full, 0U);
  std::set<std::uint16_t> functions;
  for (unsigned function = 1; function <= format::function_count; ++function) {
    const format::ProfileRow& row = table.row(5000, static_cast<std::uint16_t>(function), 3, world);
    functions.insert(row.function);
    EXPECT_EQ(row.site, 0U);
  }
  EXPECT_EQ(functions.size(), format::function_count);
  EXPECT_EQ(table.shared().summary.rows, usual_rows - rows_of_regions) << "those of regions are left";
}

TEST(ProfileTable, KeepsRowsOfRegionsWhenTheSitesHaveNone) {
  const auto number_of = [](format::Function function) { return static_cast<std::uint16_t>(function); };
  const std::uint16_t parallel = number_of(format::Function::omp_parallel);
  const std::uint16_t wait = number_of(format::Function::omp_taskwait);
  const MadeLocation made{usual_rows};
  ProfileTable table = made.location.profile;
  for (std::uint32_t site = 1; site <= rows_of_sites; ++site) table.row(site, wait, format::no_size, 1);
  EXPECT_EQ(table.shared().summary.full, 0U);
  const format::ProfileRow& of_region = table.row(5000, parallel, format::no_size, 2);
  EXPECT_EQ(of_region.site, 5000U);
  EXPECT_EQ(of_region.communicator, 2U);
  EXPECT_EQ(table.shared().summary.full, 0U);
  const format::ProfileRow& waits = table.row(6000, wait, format::no_size, 2);
  EXPECT_EQ(waits.site, 0U);
  EXPECT_EQ(waits.communicator, 2U);
  EXPECT_EQ(&table.row(6001, wait, format::no_size, 2), &waits);
  EXPECT_EQ(table.shared().summary.full, format::full_rows);
  for (std::uint32_t site = 7000; site < 7000 + rows_of_regions; ++site)
    table.row(site, parallel, format::no_size, site - 6000);
  const format::ProfileRow& rest = table.row(8000, parallel, format::no_size, 4000);
  EXPECT_EQ(rest.site, 0U);
  EXPECT_EQ(rest.communicator, format::no_communicator) << "there is no room for more regions";
}

TEST(PeerTableTest, MessagesAreCountedByPeer) {
  const MadeLocation made;
  PeerTable table = made.location.peers();
  table.count_sent(world, 3, 10);
  table.count_sent(world, 3, 20);
  table.count_received(world, 3, 5);
  table.count_sent(world, format::proc_null, 1);
  table.count_received(world, 4, format::no_bytes);  // a call that failed
  ASSERT_EQ(table.shared->summary.peers, 2U);
  const format::PeerEntry& peer = table.shared->peers[1];
  EXPECT_EQ(peer.peer, 3);
  EXPECT_EQ(peer.sent_messages, 2U);
  EXPECT_EQ(peer.sent_bytes, 30U);
  EXPECT_EQ(peer.received_messages, 1U);
  EXPECT_EQ(peer.received_bytes, 5U);
  EXPECT_EQ(table.likely_peer(world, 3), &peer);
  EXPECT_EQ(table.likely_peer(world, 4), nullptr);
}

}  // namespace
}  // namespace tare::recorder
