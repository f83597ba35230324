#include "reader/profile/profile_tables.h"

#include <gtest/gtest.h>

#include "reader/run/run.h"
#include "reader/testing/synthetic.h"

namespace tare::reader {
namespace {

using namespace synthetic;
using format::ProcessRecord;
using format::ProcessState;

std::string communicator_of_group(std::uint32_t group, std::int32_t size, const char* name) {
  format::CommunicatorDefinition communicator{};
  communicator.communicator = 1;
  communicator.size = size;
  communicator.key = 0x77;
  communicator.group = group;
  return communicator_definition(communicator, name);
}

const std::string definitions =
    group_definition(1, {{3, -1, 4}}) + communicator_of_group(1, 4, "reversed") +
    event_type_definition(7, format::EventClass::phase, "solve", {format::ParameterType::u8});

class ProfileTables : public ::testing::Test {
 protected:
  // A run of one process, rank 1, with these profiles.
  reader::Run run_of(const std::vector<Profile>& profiles) {
    const ProcessRecord process = process_record(1, ProcessState::exited);
    std::string file = functions_chunk() + process_chunk(process) + definitions_chunk(process, definitions);
    for (std::uint32_t block = 0; block < profiles.size(); ++block)
      file += profile_chunk(process, block, profiles[block]);
    dir_.write("n.tare", file);
    return open();
  }
  reader::Run open() {
    auto run = reader::Run::open({dir_.path(), dir_.path(), run_id});
    EXPECT_TRUE(run) << run.error();
    return std::move(*run);
  }

  TempDir dir_;
};

TEST_F(ProfileTables, PeersOfAllThreadsAddUp) {
  Profile first;
  first.peers = {{0, format::no_peer, 1, 5, 0, 0}, {1, 2, 3, 24, 1, 8}, {1, 3, 0, 0, 0, 0}, {0, 2, 1, 4, 0, 0}};
  Profile second;
  second.peers = {{0, format::no_peer, 0, 0, 0, 0}, {1, 0, 1, 1, 0, 0}, {1, 2, 1, 8, 2, 16}};
  reader::Run run = run_of({first, second});
  const auto peers = run.peers({.rank = true, .communicator = true});
  // Ranks in the world: communicator 0 holds all of them, in reverse order.
  ASSERT_EQ(peers.size(), 3U);
  const auto of = [&](std::int32_t communicator, std::int32_t peer) {
    for (const PeerSum& sum : peers)
      if (sum.communicator == communicator && sum.peer == peer) return sum;
    return PeerSum{};
  };
  EXPECT_EQ(of(0, 1).rank, 1);
  EXPECT_EQ(of(0, 1).sent_messages, 4U);
  EXPECT_EQ(of(0, 1).sent_bytes, 32U);
  EXPECT_EQ(of(0, 1).received_messages, 3U);
  EXPECT_EQ(of(0, 1).received_bytes, 24U);
  EXPECT_EQ(of(0, 1).ranks, 1U);
  EXPECT_EQ(of(0, 3).sent_bytes, 1U);
  EXPECT_EQ(of(-1, -1).sent_bytes, 9U);  // the table had no room, or the communicator is not known
  EXPECT_TRUE(run.peers({.ranks = std::vector<std::int32_t>{0}}).empty());
  EXPECT_EQ(run.peers({.communicators = std::vector<std::int32_t>{0}}).size(), 2U);
}

TEST_F(ProfileTables, CallsInNoPhaseAreTheRest) {
  Profile profile;
  profile.rows = {profile_row("MPI_Send", 1, 10, 1000, 80), profile_row("MPI_Send", 2, 3, 77, 11)};
  profile.rows[0].received = 5;
  profile.rows[1].function = format::function_count;  // of another source than MPI
  const std::uint32_t as_in_rows = format::bytes_as_in_rows;
  profile.phases = {{format::other_phase, as_in_rows, 0, 0, 0, 0, 0},
                    {0, as_in_rows, 0, 3000, 0, 0, 0},
                    {7, as_in_rows, 2, 2000, 400, 4, 32}};
  reader::Run run = run_of({profile, profile});
  const auto phases = run.phases({.rank = true});  // the row for what is outside of phases comes last
  ASSERT_EQ(phases.size(), 2U);
  EXPECT_TRUE(phases[1].outside);
  EXPECT_EQ(phases[1].time_ns, 6000);
  EXPECT_EQ(phases[1].mpi_ns, 2 * 600);
  EXPECT_EQ(phases[1].calls, 2 * 6U);
  EXPECT_EQ(phases[1].bytes, 2 * (80U - 32U));
  EXPECT_EQ(run.event_types()[static_cast<std::size_t>(phases[0].type)].name, "solve");
  EXPECT_EQ(phases[0].entries, 4U);
  EXPECT_EQ(phases[0].calls, 8U);
  EXPECT_EQ(phases[0].mpi_ns, 800);
  EXPECT_EQ(phases[0].bytes, 64U);
}

TEST_F(ProfileTables, TimeInNoPhaseIsThatOfTheRank) {
  Profile of_rank, helper;
  of_rank.rows = {profile_row("MPI_Send", 1, 10, 1000, 80)};
  of_rank.phases = {{format::other_phase, 0, 0, 0, 0, 0, 0}, {0, 0, 0, 3000, 0, 0, 0}, {7, 0, 2, 2000, 0, 0, 0}};
  helper.rows = {profile_row("read", 1, 10, 1000, 80)};
  helper.phases = {{format::other_phase, 0, 0, 0, 0, 0, 0}, {0, 0, 0, 7000, 0, 0, 0}, {7, 0, 1, 500, 0, 0, 0}};
  reader::Run run = run_of({of_rank, helper});
  const auto phases = run.phases({.rank = true});
  ASSERT_EQ(phases.size(), 2U);
  EXPECT_EQ(phases[0].time_ns, 2500) << "phases that the program has begun there count";
  EXPECT_EQ(phases[1].time_ns, 3000);
}

TEST_F(ProfileTables, PhasesOfOlderFilesCountWhatWasReceived) {
  Profile profile;
  profile.rows = {profile_row("MPI_Send", 1, 10, 1000, 80)};
  profile.rows[0].received = 5;
  profile.phases = {{format::other_phase, 0, 0, 0, 0, 0, 0}, {0, 0, 0, 3000, 0, 0, 0}, {7, 0, 2, 2000, 400, 4, 32}};
  reader::Run run = run_of({profile});
  EXPECT_EQ(run.phases({.rank = true}).at(1).bytes, 85U - 32U);
}

TEST_F(ProfileTables, RanksAddUp) {
  std::string file = functions_chunk();
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    ProcessRecord process = process_record(rank, ProcessState::exited);
    process.size = 3;
    process.process += rank;
    const std::uint32_t type = rank + 2;
    Profile profile;
    profile.phases = {{format::other_phase, 0, 0, 0, 0, 0, 0},
                      {0, 0, 0, 0, 0, 0, 0},
                      {type, 0, 1, rank == 1 ? 900U : 300U, 100, 2, 16}};
    profile.peers = {{1, 3, 1, 8, 0, 0}};
    file += process_chunk(process) +
            definitions_chunk(process, group_definition(1, {{3, -1, 4}}) + communicator_of_group(1, 4, "reversed") +
                                           event_type_definition(type, format::EventClass::phase, "solve",
                                                                 {format::ParameterType::u8})) +
            profile_chunk(process, 0, profile) + profile_chunk(process, 1, profile);
  }
  dir_.write("n.tare", file);
  reader::Run run = open();
  const auto phases = run.phases({});
  ASSERT_EQ(phases.size(), 1U);
  EXPECT_EQ(phases[0].rank, -1);
  EXPECT_EQ(phases[0].entries, 6U);
  EXPECT_EQ(phases[0].time_ns, 3000);
  EXPECT_EQ(phases[0].ranks, 3U);
  EXPECT_EQ(phases[0].rank_min_ns, 600);
  EXPECT_EQ(phases[0].rank_max_ns, 1800);
  EXPECT_EQ(phases[0].longest, 1);
  const auto peers = run.peers({});
  ASSERT_EQ(peers.size(), 1U);
  EXPECT_EQ(peers[0].peer, 0);
  EXPECT_EQ(peers[0].sent_messages, 6U);
  EXPECT_EQ(peers[0].ranks, 3U);
}

TEST_F(ProfileTables, ThePhaseOfAThreadThatIsThereGoesOn) {
  Segment segment(dir_, process_record(1, ProcessState::exited));
  segment.define(definitions);
  segment.add_location();
  segment.add_phase(0, {7, 0, 1, 500, 0, 0, 0});
  segment.add_peer(0, {1, 0, 2, 16, 0, 0});
  format::LocationSummary& summary = segment.location(0).summary;
  summary.in_use = 1;
  summary.phase = format::outside_phases + 1;
  summary.phase_since = 6000;  // of 9000
  reader::Run run = open();
  ASSERT_EQ(run.peers({}).size(), 1U);
  EXPECT_EQ(run.peers({})[0].sent_messages, 2U);
  auto phases = run.phases({.rank = true});
  ASSERT_EQ(phases.size(), 1U);
  EXPECT_EQ(phases[0].time_ns, 3500);
  summary.in_use = 0;
  reader::Run later = open();
  EXPECT_EQ(later.phases({})[0].time_ns, 500);
}

TEST_F(ProfileTables, FullTablesAreSaid) {
  Profile profile;
  profile.summary.full = format::full_rows | format::full_peers;
  reader::Run run = run_of({profile});
  run.totals(0);
  ASSERT_EQ(run.warnings().size(), 2U);
  EXPECT_NE(run.warnings()[0].find("profile table of 1 process was full"), std::string::npos) << run.warnings()[0];
  EXPECT_NE(run.warnings()[1].find("table of peers"), std::string::npos) << run.warnings()[1];
}

TEST(FullTables, RequestsThatWereNotFollowedAreSaid) {
  std::vector<Process> processes(3);
  processes[1].record.untracked_requests = 7;
  processes[2].record.untracked_requests = 5;
  const std::vector<std::string> lines = full_tables(processes, std::vector<Totals>(3));
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].find("there was no room to follow all requests of 2 processes: "), 0U) << lines[0];
  EXPECT_TRUE(full_tables({}, {}).empty());
}

TEST(ParseProfile, CountsBeyondThePayloadAreDamage) {
  Profile whole;
  whole.summary.rows = whole.summary.peers = whole.summary.phases = 1;
  const std::string summary = bytes_of(whole.summary);
  const std::string tables = bytes_of(format::ProfileRow{}) + bytes_of(format::PeerEntry{}) +
                             bytes_of(format::PhaseEntry{}) + bytes_of(format::CountedCalls{4, 2});
  Profile parsed;
  ASSERT_TRUE(parse_profile(summary + tables, parsed));
  EXPECT_EQ(parsed.peers.size(), 1U);
  EXPECT_EQ(parsed.phases.size(), 1U);
  ASSERT_EQ(parsed.counted.size(), 1U);
  EXPECT_EQ(parsed.counted[0].calls, 2U);
  for (std::size_t cut = 1; cut <= tables.size(); ++cut) {
    const std::string payload = (summary + tables).substr(0, summary.size() + tables.size() - cut);
    EXPECT_EQ(parse_profile(payload, parsed), cut == sizeof(format::CountedCalls)) << cut;
  }
}

}  // namespace
}  // namespace tare::reader
