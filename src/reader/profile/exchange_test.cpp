#include "reader/profile/exchange.h"

#include <gtest/gtest.h>

#include <tuple>

#include "reader/run/run.h"
#include "reader/testing/synthetic.h"

namespace tare::reader {
namespace {

using namespace synthetic;
using format::PeerEntry;
using format::ProcessState;

// Makes runs of 6 ranks from the peers of each rank. Communicator 1 is MPI_COMM_WORLD.
class ExchangeOfRanks : public ::testing::Test {
 protected:
  reader::Run run_of(const std::vector<std::vector<PeerEntry>>& peers) {
    format::CommunicatorDefinition world{};
    world.communicator = world.group = 1;
    world.size = 6;
    world.key = 1;
    const std::string log = group_definition(1, {{0, 1, 6}}) + communicator_definition(world, "MPI_COMM_WORLD");
    std::string file = functions_chunk();
    for (std::uint32_t rank = 0; rank < 6; ++rank) {
      format::ProcessRecord process = process_record(rank, ProcessState::exited);
      process.size = 6;
      process.process += rank;
      Profile profile;
      profile.peers = {{0, format::no_peer, 0, 0, 0, 0}};
      profile.peers.insert(profile.peers.end(), peers[rank].begin(), peers[rank].end());
      file += process_chunk(process) + definitions_chunk(process, log) + profile_chunk(process, 0, profile) +
              profile_chunk(process, 1, profile);  // two equal threads
    }
    dir_.write("n.tare", file);
    auto run = reader::Run::open({dir_.path(), dir_.path(), run_id});
    EXPECT_TRUE(run) << run.error();
    return std::move(*run);
  }
  static Exchange of(reader::Run& run, std::int32_t max_groups) {
    const Answers answers = run.answer({.exchanges = {max_groups}});
    EXPECT_EQ(answers.exchanges.size(), 1U);
    EXPECT_EQ(answers.exchanges[0].size(), 1U);
    return answers.exchanges[0][0];
  }
  static std::vector<std::tuple<int, int, std::uint64_t, std::uint64_t>> cells(const Exchange& exchange) {
    std::vector<std::tuple<int, int, std::uint64_t, std::uint64_t>> found;
    for (const Exchange::Cell& cell : exchange.cells) found.emplace_back(cell.from, cell.to, cell.messages, cell.bytes);
    return found;
  }

  TempDir dir_;
};

TEST_F(ExchangeOfRanks, IsByGroupsOfNeighbours) {
  reader::Run run = run_of({{{1, 1, 3, 24, 0, 0}, {1, 5, 1, 8, 0, 0}},
                            {},
                            {{1, 3, 2, 2, 0, 0}},
                            {},
                            {},
                            {{1, 4, 1, 1, 1, 8}, {1, 5, 4, 4, 4, 4}}});
  const Exchange by_two = of(run, 4);
  EXPECT_EQ(by_two.size, 6);
  EXPECT_EQ(by_two.group, 2) << "four groups of one would leave two ranks out";
  using Cells = std::vector<std::tuple<int, int, std::uint64_t, std::uint64_t>>;
  EXPECT_EQ(cells(by_two), (Cells{{0, 0, 6, 48}, {0, 2, 2, 16}, {1, 1, 4, 4}, {2, 2, 10, 10}}));
  EXPECT_EQ(of(run, 6).group, 1);
  EXPECT_EQ(of(run, 100).group, 1);
  EXPECT_EQ(cells(of(run, 1)), (Cells{{0, 0, 22, 78}}));
}

TEST_F(ExchangeOfRanks, TellsTheBusiestRank) {
  reader::Run run =
      run_of({{{1, 3, 2, 0, 0, 0}}, {{1, 3, 2, 0, 0, 0}}, {{1, 4, 1, 0, 5, 0}}, {{1, 3, 50, 0, 0, 0}}, {}, {}});
  const Exchange exchange = of(run, 8);
  EXPECT_EQ(exchange.busiest, 3) << "not for messages to itself, but for those from 0 and 1";
  EXPECT_EQ(exchange.busiest_messages, 8U);
  EXPECT_EQ(exchange.between, 10U);
  EXPECT_EQ(exchange.messages, 120U) << "sent and received";
  EXPECT_EQ(of(run, 1).busiest, 3) << "whatever the groups";
}

TEST_F(ExchangeOfRanks, WhatGoesElsewhereIsInNoCell) {
  reader::Run run = run_of({{{1, 6, 2, 9, 0, 0}, {7, 0, 3, 9, 0, 0}}, {}, {}, {}, {}, {}});
  const Exchange exchange = of(run, 8);
  EXPECT_TRUE(exchange.cells.empty());
  EXPECT_EQ(exchange.elsewhere, 10U);
  EXPECT_EQ(exchange.busiest, -1);
}

TEST_F(ExchangeOfRanks, IsAnsweredBesideOtherQuestions) {
  reader::Run run = run_of({{{1, 1, 3, 24, 0, 0}}, {}, {}, {}, {}, {}});
  const Answers answers =
      run.answer({.sums = {SumsQuery{.ranks = {{0}}}}, .peers = {TablesQuery{.rank = true}}, .exchanges = {2, 6}});
  ASSERT_EQ(answers.exchanges.size(), 2U);
  EXPECT_EQ(answers.exchanges[0][0].group, 3);
  EXPECT_EQ(answers.exchanges[1][0].group, 1);
  ASSERT_EQ(answers.peers[0].size(), 1U);
  EXPECT_EQ(answers.peers[0][0].sent_messages, 6U);
  EXPECT_TRUE(answers.sums[0].empty()) << "no calls";
}

}  // namespace
}  // namespace tare::reader
