#include "reader/run/run.h"

#include <gtest/gtest.h>

#include <unistd.h>
#include <cstring>

#include <algorithm>

#include "reader/model/account.h"
#include "reader/testing/synthetic.h"

namespace tare::reader {
namespace {

using namespace synthetic;
using format::frames_left_out;
using format::of_program;
using format::path_cut;
using format::ProcessRecord;
using format::ProcessState;

const SumsQuery everything{true, true, true, true, true, true, {}, {}};

class RunTest : public ::testing::Test {
 protected:
  reader::Run open() {
    auto run = reader::Run::open({dir_.path(), dir_.path(), run_id});
    EXPECT_TRUE(run) << run.error();
    return std::move(*run);
  }
  Account account(reader::Run&& run) { return account(run); }
  Account account(reader::Run& run) { return account_of(run.processes()[0], run.totals(0)); }
  static const ProfileSum& row_of(const std::vector<ProfileSum>& rows, const reader::Run& run,
                                  const std::string& name) {
    const auto is = [&](const ProfileSum& row) { return run.functions().name(row.key.function) == name; };
    const auto found = std::find_if(rows.begin(), rows.end(), is);
    if (found == rows.end()) throw std::runtime_error("no row of " + name);
    return *found;
  }

  TempDir dir_;
};

TEST_F(RunTest, AnEmptyDirectoryIsAnEmptyRun) {
  EXPECT_TRUE(open().processes().empty());
  EXPECT_FALSE(reader::Run::open({dir_.path("missing"), "", ""}));
}

TEST_F(RunTest, ProfileOfAProcess) {
  const ProcessRecord process = process_record(0, ProcessState::exited);
  const std::string log =
      module_definition(5, "/bin/app") + site_definition(1, 5, 0x40) + communicator_definition(1, 2, "MPI_COMM_WORLD");
  dir_.write("n.tare", functions_chunk() + process_chunk(process) + definitions_chunk(process, log) +
                           profile_chunk(process, 0, {profile_row("MPI_Send", 1, 10, 1000, 80)}, {{1, 7}}) +
                           profile_chunk(process, 1, {profile_row("MPI_Send", 1, 5, 500, 40)}));
  reader::Run run = open();
  EXPECT_TRUE(run.warnings().empty());
  const auto rows = run.profile_sums(everything);
  ASSERT_EQ(rows.size(), 2U);
  const ProfileSum& send = row_of(rows, run, "MPI_Send");
  EXPECT_EQ(send.calls, 15U);
  EXPECT_EQ(send.time_ns, 1500);
  EXPECT_EQ(send.min_ns, 50);
  EXPECT_EQ(send.max_ns, 1000);
  EXPECT_EQ(send.bytes, 120U);
  EXPECT_EQ(send.key.size_class, 4);
  EXPECT_EQ(send.timed_calls, 15U);
  ASSERT_EQ(send.key.site, 0);
  EXPECT_EQ(run.sites()[0].at.object, "/bin/app");
  EXPECT_EQ(run.sites()[0].at.address, 0x40U);
  ASSERT_EQ(send.key.communicator, 0);
  EXPECT_EQ(run.communicators()[0].name, "MPI_COMM_WORLD");
  const ProfileSum& counted =
      *std::find_if(rows.begin(), rows.end(), [](const auto& row) { return row.timed_calls == 0; });
  EXPECT_EQ(counted.calls, 7U);
  EXPECT_EQ(counted.key.site, -1);
  const Totals totals = run.totals(0);
  EXPECT_EQ(totals.calls, 15U);
  EXPECT_EQ(totals.counted, 7U);
  EXPECT_EQ(account(run).wall_ns, 8000);
  EXPECT_EQ(account(run).net_ns, 6000);
  EXPECT_EQ(account(run).mpi_ns, 1500);
  EXPECT_EQ(account(run).wrapper_ns, 300 + 35);
  EXPECT_DOUBLE_EQ(account(run).net_share, 335.0 / 6000);
  EXPECT_EQ(account(run).start_ns, 1'700'000'000'000'001'000);
}

TEST_F(RunTest, PollsThatWereNotTimedCostLess) {
  const ProcessRecord process = process_record(0, ProcessState::exited);
  format::ProfileRow row = profile_row("MPI_Test", 1, 100, 1500, 0);
  row.estimated = 90;
  const auto timed = static_cast<unsigned>(format::CallClass::completion);
  const Profile profile{{}, {row}, {}, {}, {weighed_calls(timed, 4, 20), weighed_calls(format::untimed, 5, 3)}, {}};
  dir_.write("n.tare", process_chunk(process) + profile_chunk(process, 0, profile));
  reader::Run run = open();
  EXPECT_EQ(row_of(run.profile_sums(everything), run, "MPI_Test").estimated, 90U);
  EXPECT_EQ(account(run).wrapper_ns, 10 * 20 + 90 * 3);
}

TEST_F(RunTest, TheNewestSamplesCountAndDamagedOnesAreWarnedOf) {
  const auto one = process_record(0, ProcessState::exited);
  const auto other = process_record(1, ProcessState::exited);
  format::SampleClass sampled{};
  sampled.source = 1;
  sampled.count = 3;
  const format::SampleClass empty{};
  format::ChunkHeader cut{};
  cut.type = format::ChunkType::samples;
  cut.process = other.process;
  dir_.write("a.tare", functions_chunk() + process_chunk(one) + process_chunk(other) + samples_chunk(one, {empty}) +
                           samples_chunk(one, {empty, sampled}) + chunk(cut, "too short"));
  auto run = open();
  int processes = 0;
  run.samples([&](std::size_t process, const Samples& samples) {
    ++processes;
    EXPECT_EQ(run.processes()[process].record.rank, 0);
    EXPECT_EQ(samples.summary.paired, 2U);
    ASSERT_EQ(samples.classes.size(), 1U);
    EXPECT_EQ(samples.classes[0].count, 3U);
  });
  EXPECT_EQ(processes, 1);
  EXPECT_EQ(run.warnings().size(), 1U);
}

TEST_F(RunTest, InitAndFinalizeAreNotTimeInMpi) {
  const ProcessRecord process = process_record(0, ProcessState::exited);
  dir_.write("n.tare",
             functions_chunk() + process_chunk(process) +
                 profile_chunk(process, 0,
                               {profile_row("MPI_Init", 1, 1, 1000, 0), profile_row("MPI_Barrier", 1, 1, 70, 0),
                                profile_row("MPI_Finalize", 1, 1, 500, 0)}));
  EXPECT_EQ(account(open()).mpi_ns, 70);
}

TEST_F(RunTest, AnEstimateLongerThanLifeIsAllOfIt) {
  format::ProfileRow row = profile_row("MPI_Isend", 1, 100, 7000, 0);
  row.estimated = 89;
  const ProcessRecord process = process_record(0, ProcessState::exited);
  dir_.write("n.tare", process_chunk(process) + profile_chunk(process, 0, {row}));
  const Account found = account(open());
  EXPECT_EQ(found.mpi_ns, 7000);
  EXPECT_EQ(found.net_ns, 6000);
  EXPECT_EQ(mpi_share(found), 1.0);
}

TEST_F(RunTest, TheNewestProfileAndProcessCount) {
  ProcessRecord process = process_record(0, ProcessState::running);
  std::string file = functions_chunk() + process_chunk(process) +
                     profile_chunk(process, 0, {profile_row("MPI_Send", 1, 10, 1000, 80)});
  process.state = ProcessState::exited;
  process.exit_code = 7;
  file += profile_chunk(process, 0, {profile_row("MPI_Send", 1, 30, 3000, 240)}) + process_chunk(process);
  dir_.write("n.tare", file);
  reader::Run run = open();
  ASSERT_EQ(run.processes().size(), 1U);
  EXPECT_EQ(run.processes()[0].state, State::finished);
  EXPECT_EQ(run.processes()[0].record.exit_code, 7);
  EXPECT_EQ(run.profile_sums(everything)[0].calls, 30U);
}

TEST_F(RunTest, StatesOfProcessesOnDisk) {
  const std::pair<ProcessState, State> expected[] = {{ProcessState::running, State::killed},
                                                     {ProcessState::finalized, State::finished},
                                                     {ProcessState::exited, State::finished},
                                                     {ProcessState::aborted, State::aborted}};
  for (const auto& [written, shown] : expected) {
    const ProcessRecord process = process_record(0, written);
    dir_.write("n.tare", process_chunk(process) + profile_chunk(process, 0, std::vector<format::ProfileRow>{}));
    EXPECT_EQ(open().processes()[0].state, shown) << static_cast<int>(written);
  }
}

TEST_F(RunTest, AProcessWhoseSegmentIsElsewhereIsMissing) {
  ProcessRecord process = process_record(0, ProcessState::running);
  for (const bool is_going_on : {false, true}) {
    dir_.write("n.tare", process_chunk(process));
    auto run = reader::Run::open({dir_.path(), dir_.path(), run_id, "", is_going_on});
    ASSERT_TRUE(run) << run.error();
    EXPECT_TRUE(run->processes().empty()) << "there is no more than who it is";
    ASSERT_FALSE(run->missing().empty());
    EXPECT_EQ(run->missing()[0].host, process.host);
    dir_.write("n.tare",
               process_chunk(process) + events_chunk(process, 0, 0, bytes_of(call_record("MPI_Send", 1, 3000, 3005))));
    run = reader::Run::open({dir_.path(), dir_.path(), run_id, "", is_going_on});
    EXPECT_EQ(run->processes()[0].state, State::unknown) << "nobody has seen whether it ended";
    EXPECT_FALSE(run->missing().empty()) << "its events are not all";
  }
  process.flags |= format::found_ended;
  dir_.write("n.tare", process_chunk(process));
  EXPECT_EQ(reader::Run::open({dir_.path(), dir_.path(), run_id, "", true})->processes()[0].state, State::killed);
}

TEST_F(RunTest, AProcessInAnotherPidNamespaceIsUnknownWithoutAMark) {
  ProcessRecord record = process_record(0, ProcessState::running);
  Segment segment(dir_, record);
  segment.header().maker.pid_namespace = 1;
  const reader::Run run = open();
  EXPECT_EQ(run.processes().at(0).state, State::unknown);
  EXPECT_EQ(run.processes().at(0).end, record.end) << "it is not seen to go on";
}

TEST_F(RunTest, AShortProcessThatHasEndedKeepsTheClockRateThatItMeasured) {
  ProcessRecord process = process_record(0, ProcessState::exited);
  ASSERT_EQ(gethostname(process.host, sizeof process.host), 0);
  process.clock = format::ClockKind::tsc;
  process.clock_start = {1'000'000'000, 1'000'000'000};
  process.clock_last = {1'060'000'000, 1'020'000'000};  // 20 ms, 3 ticks a nanosecond
  dir_.write("n.tare", process_chunk(process));
  EXPECT_DOUBLE_EQ(open().processes()[0].clock.rate(), 1. / 3);
}

TEST_F(RunTest, ASegmentIsReadLikeAFile) {
  ProcessRecord record = process_record(0, ProcessState::running);
  record.end = record.finalize_enter = record.finalize_leave = 0;
  Segment segment(dir_, record);
  segment.define(python_site_definition(4, "/a/b.py", "main", 17));
  segment.add_location();
  segment.add_row(0, profile_row("MPI_Recv", 4, 2, 100, 16));
  segment.location(0).lookups[function_number("MPI_Wtime")] = 3;
  segment.location(0).current.enter = 6000;
  reader::Run run = open();
  ASSERT_EQ(run.processes().size(), 1U);
  EXPECT_EQ(run.processes()[0].state, State::killed);
  EXPECT_EQ(account(run).wall_ns, 5000) << "up to the start of the last call";
  EXPECT_EQ(run.profile_sums(everything).size(), 2U);
  ASSERT_EQ(run.sites().size(), 1U);
  EXPECT_EQ(run.sites()[0].symbol.caller, "main");
  EXPECT_EQ(run.sites()[0].symbol.file, "/a/b.py");
  EXPECT_EQ(run.sites()[0].symbol.line, 17U);
}

TEST_F(RunTest, AProcessThatMapsItsSegmentIsRunning) {
  ProcessRecord record = process_record(0, ProcessState::running);
  record.pid = static_cast<std::uint32_t>(::getpid());
  record.end = 0;
  Segment segment(dir_, record);
  EXPECT_EQ(open().processes()[0].state, State::running);
  segment.header().process.state = ProcessState::aborted;
  EXPECT_EQ(open().processes()[0].state, State::aborted);
  segment.header().process.state = ProcessState::running;
  segment.unmap();  // as if another process had this pid now
  EXPECT_EQ(open().processes()[0].state, State::killed);
}

TEST_F(RunTest, ASegmentReplacesWhatIsOnDisk) {
  const ProcessRecord record = process_record(0, ProcessState::exited);
  dir_.write("n.tare", functions_chunk() + process_chunk(record) +
                           profile_chunk(record, 0, {profile_row("MPI_Send", 1, 10, 1000, 80)}));
  Segment segment(dir_, record);
  segment.add_location();
  segment.add_row(0, profile_row("MPI_Send", 1, 10, 1000, 80));
  const auto rows = open().profile_sums(everything);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].calls, 10U);
}

TEST_F(RunTest, CommunicatorsOfOneKeyAreOneAndHaveMembers) {
  std::string file = functions_chunk();
  for (const std::uint32_t rank : {0U, 1U}) {
    const ProcessRecord process = process_record(rank, ProcessState::exited);
    format::CommunicatorDefinition row{};
    row.communicator = 3 + rank;
    row.size = 3;
    row.key = 77;
    row.group = 1;
    format::CommunicatorDefinition inter = row;
    inter.communicator = 9;
    inter.key = 78 + rank;
    inter.remote_size = 2;
    inter.remote_group = 2;
    file +=
        process_chunk(process) +
        definitions_chunk(process, group_definition(1, {{5, -2, 2}, {8, 0, 1}}) + group_definition(2, {{-1, 0, 2}}) +
                                       communicator_definition(row, rank == 0 ? "" : "row") +
                                       communicator_definition(inter, "row"));
  }
  dir_.write("n.tare", file);
  const auto run = open();
  EXPECT_EQ(run.communicators().size(), 3U) << "not one by name";
  const std::int32_t of_rank_0 = run.processes()[0].communicators.find(3);
  EXPECT_EQ(of_rank_0, run.processes()[1].communicators.find(4));
  const CommunicatorInfo& row = run.communicators()[static_cast<std::size_t>(of_rank_0)];
  EXPECT_EQ(row.name, "row") << "named by one of them";
  EXPECT_EQ(row.key, 77U);
  ASSERT_TRUE(row.members);
  EXPECT_EQ(row.members->runs().size(), 2U);
  EXPECT_EQ(row.size, 3);
  const std::int32_t between = run.processes()[0].communicators.find(9);
  EXPECT_EQ(run.communicators()[static_cast<std::size_t>(between)].size, 3 + 2) << "of both groups";
  EXPECT_FALSE(row.remote_members);
  std::vector<std::int32_t> members;
  for (std::int32_t rank = -2; rank < 4; ++rank) members.push_back(row.world_rank(5, rank));
  EXPECT_EQ(members, (std::vector<std::int32_t>{-1, -1, 5, 3, 8, -1}));
  const std::int32_t inter_of_rank_0 = run.processes()[0].communicators.find(9);
  const CommunicatorInfo& inter = run.communicators()[static_cast<std::size_t>(inter_of_rank_0)];
  EXPECT_EQ(inter.world_rank(3, 1), -1) << "a peer of a member is in the remote group, here of another world";
  EXPECT_EQ(inter.world_rank(0, 1), 3) << "and of the others in the group of members";
}

TEST_F(RunTest, GroupsThatAreNotWhatTheySayAreRefused) {
  Definitions definitions;
  std::string cut = group_definition(1, {{0, 1, 2}, {4, 1, 1}});
  const std::uint32_t more_runs = 9;
  std::memcpy(&cut[16], &more_runs, sizeof more_runs);
  EXPECT_FALSE(definitions.apply(cut));
  std::string size = group_definition(1, {{0, 1, 2}});
  size[12] = 3;
  EXPECT_FALSE(definitions.apply(size));
  EXPECT_FALSE(definitions.apply(group_definition(1, {{0, 1, 0}, {0, 1, 2}})));
  EXPECT_EQ(definitions.groups.size(), 0U);
  EXPECT_TRUE(definitions.apply(group_definition(2, {{INT32_MAX, INT32_MAX, 3}})));
  EXPECT_EQ(definitions.members(2)->world_rank(2), -1) << "beyond any rank";
}

TEST_F(RunTest, EqualSitesAndNamedCommunicatorsOfTwoProcessesAreOne) {
  std::string file = functions_chunk();
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    const ProcessRecord process = process_record(rank, ProcessState::exited);
    // Both ranks define the same things under different numbers. Rank 1 has one more site and communicator.
    const std::uint32_t n = 10 * rank;
    std::string log = module_definition(n, "/bin/app", "build") + site_definition(n + 1, n, 0x40) +
                      python_site_definition(n + 2, "a.py", "f", 3) + communicator_definition(n + 1, 2, "mine") +
                      communicator_definition(n + 2, 2, "x") + communicator_name(n + 2, "renamed");
    if (rank == 1) log += site_definition(13, n, 0x80) + communicator_definition(13, 2, "");
    file += process_chunk(process) + definitions_chunk(process, log) + definitions_chunk(process, log);
  }
  dir_.write("n.tare", file);
  reader::Run run = open();
  EXPECT_TRUE(run.warnings().empty());
  EXPECT_EQ(run.sites().size(), 3U);
  ASSERT_EQ(run.communicators().size(), 3U);
  EXPECT_EQ(run.processes()[0].sites.find(1), run.processes()[1].sites.find(11));
  EXPECT_EQ(run.processes()[0].communicators.find(2), run.processes()[1].communicators.find(12));
  EXPECT_EQ(run.communicators()[static_cast<std::size_t>(run.processes()[0].communicators.find(2))].name, "renamed");
}

TEST_F(RunTest, WindowsAndFilesOfAKeyAreOne) {
  std::string file = functions_chunk();
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    const ProcessRecord process = process_record(rank, ProcessState::exited);
    const std::uint32_t n = 10 * rank;
    const std::string log = communicator_definition(n + 1, 2, "mine") + window_definition(n + 2, n + 1, 77) +
                            file_definition(n + 3, n + 1, 0, "own.dat") + window_definition(n + 4, n + 1, 78) +
                            thread_definition(2, "worker") +
                            (rank == 1 ? window_name(n + 2, "halo") + thread_definition(2, "renamed") : "");
    file += process_chunk(process) + definitions_chunk(process, log) + definitions_chunk(process, log);
  }
  dir_.write("n.tare", file);
  const reader::Run run = open();
  EXPECT_TRUE(run.warnings().empty());
  ASSERT_EQ(run.scopes().size(), 4U) << "files without a key are of one process each";
  const auto& first = run.processes()[0];
  const auto& second = run.processes()[1];
  EXPECT_EQ(first.scopes.find(2), second.scopes.find(12));
  EXPECT_NE(first.scopes.find(3), second.scopes.find(13));
  EXPECT_EQ(first.scopes.find(1), -1);
  const ScopeInfo& window = run.scopes()[static_cast<std::size_t>(first.scopes.find(2))];
  EXPECT_FALSE(window.is_file);
  EXPECT_EQ(window.name, "halo");
  EXPECT_EQ(run.scopes()[static_cast<std::size_t>(first.scopes.find(4))].name, "#1") << "the second window has no name";
  EXPECT_EQ(window.flavour, format::WindowFlavour::allocate);
  EXPECT_EQ(window.communicator, first.communicators.find(1));
  EXPECT_EQ(first.communicators.find(3), first.communicators.find(1)) << "calls on a file are of its communicator";
  const ScopeInfo& own = run.scopes()[static_cast<std::size_t>(second.scopes.find(13))];
  EXPECT_TRUE(own.is_file);
  EXPECT_EQ(own.name, "own.dat");
  EXPECT_EQ(first.thread_names.at(2), "worker");
  EXPECT_EQ(second.thread_names.at(2), "renamed");
}

TEST_F(RunTest, MachinesOfOneNameAreTwoHosts) {
  std::string file = functions_chunk();
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    ProcessRecord process = process_record(rank, ProcessState::exited);
    process.machine = 5 + rank;
    file += process_chunk(process);
  }
  dir_.write("n.tare", file);
  const reader::Run run = open();
  const std::string host = run.processes()[0].record.host;
  EXPECT_EQ(run.processes()[1].record.host, host + " (machine 2)");
}

TEST_F(RunTest, WorldsAreFilledInTheOrderOfStarts) {
  std::string file = functions_chunk();
  const auto add = [&](std::uint32_t id, std::int32_t rank, std::int32_t size, std::uint64_t start, bool spawned) {
    ProcessRecord process = process_record(id, ProcessState::exited);
    process.rank = rank;
    process.size = size;
    process.realtime_start_ns = start;
    process.flags = spawned ? format::spawned : 0U;
    file += process_chunk(process);
  };
  add(1, 0, 2, 10, false);
  add(2, 1, 2, 11, false);
  add(3, 0, 2, 20, false);  // a second mpiexec
  add(4, 1, 2, 19, false);
  add(5, 0, 1, 12, true);  // spawned by the first world
  add(6, -1, 0, 5, false);
  dir_.write("n.tare", file);
  reader::Run run = open();
  std::vector<std::pair<int, int>> worlds;
  for (const Process& process : run.processes()) worlds.emplace_back(process.world, process.record.rank);
  EXPECT_EQ(worlds, (std::vector<std::pair<int, int>>{{0, -1}, {0, 0}, {0, 1}, {1, 0}, {1, 1}, {2, 0}}));
}

// A process of a world of two ranks, which ran from `begin_s` for 10 s.
struct Started {
  std::uint32_t id;
  std::int32_t rank;
  std::uint64_t begin_s;
  const char* executable;
  const char* host = "one";
};

std::string started(const std::vector<Started>& all) {
  std::string file = functions_chunk();
  for (const Started& one : all) {
    ProcessRecord process = process_record(one.id, ProcessState::exited);
    process.rank = one.rank;
    process.realtime_start_ns = one.begin_s * 1'000'000'000;
    process.end = process.clock_start.ticks + 10'000'000'000;
    process.clock_last = {process.end, process.end};
    std::strcpy(process.executable, one.executable);
    std::strcpy(process.host, one.host);
    file += process_chunk(process);
  }
  return file;
}

std::vector<std::vector<std::uint64_t>> worlds_of(const reader::Run& run) {
  std::vector<std::vector<std::uint64_t>> worlds;
  for (const Process& process : run.processes()) {
    worlds.resize(std::max(worlds.size(), static_cast<std::size_t>(process.world) + 1));
    worlds[static_cast<std::size_t>(process.world)].push_back(process.id -
                                                              process_record(0, ProcessState::exited).process);
  }
  return worlds;
}

using Worlds = std::vector<std::vector<std::uint64_t>>;

TEST_F(RunTest, JobsOfOneTimeAreToldApart) {
  // The second program's rank 1 is there before the first one's.
  dir_.write("n.tare", started({{1, 0, 1, "a"}, {2, 1, 2, "b"}, {3, 1, 3, "a"}, {4, 0, 4, "b"}}));
  EXPECT_EQ(worlds_of(open()), (Worlds{{1, 3}, {4, 2}}));
  EXPECT_EQ(open().warnings(), std::vector<std::string>{});
  dir_.write("n.tare", started({{1, 0, 1, "a"}, {2, 1, 2, "a", "two"}, {3, 1, 3, "a"}, {4, 0, 4, "a", "two"}}));
  EXPECT_EQ(worlds_of(open()), (Worlds{{1, 3}, {4, 2}}));
  EXPECT_EQ(open().warnings(), std::vector<std::string>{});
}

TEST_F(RunTest, JobsThatNothingTellsApartHaveAWarning) {
  dir_.write("n.tare", started({{1, 0, 1, "a"}, {2, 1, 2, "a"}, {3, 0, 3, "a"}, {4, 1, 4, "a"}}));
  EXPECT_EQ(worlds_of(open()), (Worlds{{1, 2}, {3, 4}}));
  EXPECT_EQ(open().warnings(),
            std::vector<std::string>{"MPI jobs with as many ranks ran at the same time, and nothing tells their "
                                     "processes apart: ranks of worlds 0, 1 may be in the wrong one of them"});
}

TEST_F(RunTest, AJobMayBeMixedWithTheOneBeforeOrBehind) {
  std::vector<Started> all;
  for (const std::uint64_t begin_s : {1, 8, 15, 40})
    for (const std::int32_t rank : {0, 1})
      all.push_back({static_cast<std::uint32_t>(all.size() + 1), rank, begin_s, "a"});
  dir_.write("n.tare", started(all));
  EXPECT_NE(open().warnings().at(0).find("ranks of worlds 0, 1, 2 may"), std::string::npos);
}

TEST_F(RunTest, AJobOfTwoProgramsIsOneWorld) {
  dir_.write("n.tare", started({{1, 0, 1, "a"}, {2, 1, 2, "b"}}));
  EXPECT_EQ(worlds_of(open()), (Worlds{{1, 2}}));
  // Then another one, with the programs exchanged; and one of a program alone.
  dir_.write(
      "n.tare",
      started({{1, 0, 1, "a"}, {2, 1, 2, "b"}, {3, 0, 21, "b"}, {4, 1, 22, "a"}, {5, 0, 41, "a"}, {6, 1, 42, "a"}}));
  EXPECT_EQ(worlds_of(open()), (Worlds{{1, 2}, {3, 4}, {5, 6}}));
  EXPECT_EQ(open().warnings(), std::vector<std::string>{});
}

TEST_F(RunTest, FunctionNumbersOfAnotherBuildAreTranslated) {
  const ProcessRecord process = process_record(0, ProcessState::exited);
  format::ProfileRow first = profile_row("MPI_Send", 1, 10, 1000, 80);
  format::ProfileRow second = first;
  first.function = 1;
  second.function = 2;
  dir_.write("n.tare", functions_chunk({"MPI_Recv", "MPI_New"}) + process_chunk(process) +
                           profile_chunk(process, 0, {first, second}));
  reader::Run run = open();
  EXPECT_EQ(row_of(run.profile_sums(everything), run, "MPI_Recv").calls, 10U);
  EXPECT_EQ(row_of(run.profile_sums(everything), run, "MPI_New").calls, 10U);
}

TEST_F(RunTest, StoredSymbolsComeFirst) {
  const ProcessRecord process = process_record(0, ProcessState::exited);
  format::ChunkHeader identity{};
  identity.type = format::ChunkType::symbols;
  std::string symbols;
  append_symbol(symbols, {"/gone/app", "build", 0x40}, {"solve", "/src/solve.c", 12});
  dir_.write("n.tare", process_chunk(process) + chunk(identity, symbols) +
                           definitions_chunk(process, module_definition(1, "/gone/app", "build") +
                                                          site_definition(1, 1, 0x40) + site_definition(2, 1, 0x80)));
  reader::Run run = open();
  ASSERT_EQ(run.sites().size(), 2U);
  const auto known = static_cast<std::size_t>(run.processes()[0].sites.find(1));
  EXPECT_EQ(run.sites()[known].symbol.caller, "solve");
  EXPECT_EQ(run.sites()[known].symbol.line, 12U);
  EXPECT_TRUE(run.sites()[1 - known].symbol.caller.empty());
  EXPECT_TRUE(run.new_symbols().empty());
}

TEST_F(RunTest, DamageIsNamedAndTheRestShown) {
  const ProcessRecord process = process_record(0, ProcessState::exited);
  std::string profile = profile_chunk(process, 0, {profile_row("MPI_Send", 1, 10, 1000, 80)});
  profile[profile.size() / 2] ^= 1;
  dir_.write("n.tare", functions_chunk() + profile + process_chunk(process));
  reader::Run run = open();
  EXPECT_EQ(run.processes().size(), 1U);
  ASSERT_EQ(run.warnings().size(), 1U);
  EXPECT_NE(run.warnings()[0].find("n.tare: " + std::to_string(profile.size()) + " bytes at offset"), std::string::npos)
      << run.warnings()[0];
}

TEST_F(RunTest, SaysThatDefinitionsAreLost) {
  ProcessRecord process = process_record(0, ProcessState::exited);
  process.definitions_lost = 3;
  dir_.write("n.tare", functions_chunk() + process_chunk(process));
  ASSERT_EQ(open().warnings().size(), 1U);
  EXPECT_TRUE(open().warnings()[0].starts_with("the definition log of 1 of 1 processes was full: 3 "));
}

TEST_F(RunTest, AProgramEndsWhereAnotherReplacesIt) {
  ProcessRecord first = process_record(0, ProcessState::exited), second = first;
  first.init_enter = first.init_leave = first.finalize_enter = first.finalize_leave = 0;
  second.process += 1;
  second.attach = 5000;
  const auto first_end = [&] {
    const reader::Run run =
        std::move(*reader::Run::of_memory(functions_chunk() + process_chunk(first) + process_chunk(second)));
    return run.processes()[0].end;
  };
  EXPECT_EQ(first_end(), 9000U) << "it has recorded its end";
  first.flags |= format::end_seen;
  EXPECT_EQ(first_end(), 5000U);
  first.init_leave = 6000;
  EXPECT_EQ(first_end(), 9000U) << "it was seen later, so it is another process";
  first.init_leave = 0;
  first.pid += 1;
  EXPECT_EQ(first_end(), 9000U);
}

// Two call paths lead through a library from one line of the program. A third path is only known within the library.
TEST_F(RunTest, TheProgramStandsForAPath) {
  const ProcessRecord process = process_record(0, ProcessState::exited);
  const std::string log = module_definition(1, "/bin/app", "a", of_program) +
                          module_definition(2, "/lib/solver.so", "b") + frame_definition(1, 2, 0x10) +
                          frame_definition(2, 2, 0x20) + frame_definition(3, 1, 0x30) + frame_definition(4, 1, 0x40) +
                          path_definition(1, {1, 3, 4}) + path_definition(2, {2, 3, 4}, frames_left_out) +
                          path_definition(3, {1}, path_cut) + path_definition(4, {9}) + path_definition(5, {1, 3, 4});
  dir_.write("n.tare", functions_chunk() + definitions_chunk(process, log) + process_chunk(process));
  reader::Run run = open();
  ASSERT_EQ(run.sites().size(), 3U);
  const NumberMap& numbers = run.processes()[0].sites;
  EXPECT_EQ(numbers.find(1), 0);
  EXPECT_EQ(numbers.find(2), 1);
  EXPECT_EQ(numbers.find(3), 2);
  EXPECT_EQ(numbers.find(4), -1);  // its frame is not defined
  EXPECT_EQ(numbers.find(5), 0);
  EXPECT_EQ(run.sites()[0].shown, 1U);
  EXPECT_EQ(run.sites()[0].at.address, 0x30U);
  EXPECT_EQ(run.sites()[1].at.object, "/bin/app");
  EXPECT_EQ(run.sites()[1].flags, frames_left_out);
  EXPECT_EQ(run.sites()[2].at.object, "/lib/solver.so");
  EXPECT_EQ(run.frames().size(), 4U);
}

}  // namespace
}  // namespace tare::reader
