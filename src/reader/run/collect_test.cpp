#include "reader/run/collect.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "format/segment_name.h"
#include "reader/events/event_stream.h"
#include "reader/model/account.h"
#include "reader/testing/synthetic.h"

namespace tare::reader {
namespace {

using namespace synthetic;
using format::ProcessRecord;
using format::ProcessState;

class CollectTest : public ::testing::Test {
 protected:
  RunPaths paths() const { return {run_dir_.path(), segment_dir_.path(), run_id}; }
  Collected collect_all(std::optional<std::uint64_t> command_ended_ns = std::nullopt) {
    auto collected = collect(paths(), {.command_ended_ns = command_ended_ns});
    EXPECT_TRUE(collected) << collected.error();
    return *collected;
  }
  void fill(Segment& segment, unsigned events = 5) {
    segment.define(python_site_definition(1, "a.py", "f", 3));
    segment.add_location();
    segment.add_row(0, profile_row("MPI_Send", 1, events, 1000, 80));
    for (unsigned i = 0; i < events; ++i)
      segment.add_record(0, bytes_of(call_record("MPI_Send", 1, 3000 + 10 * i, 3005 + 10 * i)));
  }
  // Reads the run directory alone, without segments.
  void expect_complete(unsigned events = 5) {
    auto run = reader::Run::open({run_dir_.path(), "", ""});
    ASSERT_TRUE(run) << run.error();
    EXPECT_TRUE(run->warnings().empty()) << run->warnings()[0];
    ASSERT_EQ(run->processes().size(), 1U);
    ASSERT_EQ(run->profile_sums({.function = true}).size(), 1U);
    EXPECT_EQ(run->profile_sums({.function = true})[0].calls, events);
    EXPECT_EQ(run->sites().at(0).symbol.file, "a.py");
    auto stream = EventStream::open(*run, {});
    ASSERT_TRUE(stream);
    EXPECT_EQ(stream->next(1000).size(), events);
  }
  std::string file() const { return this_host() + ".tare"; }

  TempDir run_dir_;
  TempDir segment_dir_;
};

// A process makes the file of its segment, and maps it a moment later.
TEST_F(CollectTest, ASegmentThatBeginsIsLeftToItsProcess) {
  const std::string path =
      segment_dir_.path() + "/tare-" + run_id + "-" + std::to_string(getpid()) + "-00000000000000ab";
  std::ofstream(path).put('\0');
  EXPECT_EQ(collect_all().running, 1U);
  EXPECT_TRUE(std::filesystem::exists(path));
  std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now() - std::chrono::minutes(1));
  EXPECT_EQ(collect_all().running, 0U) << "its process never came so far";
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(CollectTest, AFlightRecorderKeepsWhatIsYoung) {
  Segment segment(segment_dir_, process_record(0, ProcessState::exited));
  fill(segment);
  segment.header().ring.policy = format::Policy::overwrite;
  segment.header().keep_ns = segment.header().process.end - 3020;  // a tick is a nanosecond
  EXPECT_EQ(collect_all().recovered_events, 3U);
  auto run = reader::Run::open({run_dir_.path(), "", ""});
  auto stream = EventStream::open(*run, {});
  EXPECT_EQ(stream->next(1000).size(), 3U);
  EXPECT_NE(run->totals(0).overwritten_bytes, 0U) << "its trace has no begin";
}

TEST_F(CollectTest, AFlightRecorderThatWasSavedWhileItRanHasItsLastEvents) {
  ProcessRecord process = process_record(0, ProcessState::running);
  process.pid = static_cast<std::uint32_t>(::getpid());
  process.end = process.finalize_enter = process.finalize_leave = 0;
  process.flags |= format::traced | format::overwrites;
  const auto expect_events = [&](const RunPaths& of, std::size_t events) {
    auto run = reader::Run::open(of);
    ASSERT_TRUE(run);
    EXPECT_EQ(EventStream::open(*run, {})->next(1000).size(), events);
    EXPECT_EQ(run->totals(0).records, events);
  };
  {
    Segment segment(segment_dir_, process);
    fill(segment);
    segment.header().ring.policy = format::Policy::overwrite;
    segment.header().keep_ns = 1000;  // a tick is a nanosecond
    segment.location(0).current.enter = 4020;
    ASSERT_TRUE(collect(paths(), {.saves_living = true}));
    expect_events({run_dir_.path(), "", ""}, 3);
    for (const std::uint64_t enter : {6000, 6010})
      segment.add_record(0, bytes_of(call_record("MPI_Send", 1, enter, enter + 5)));
    segment.location(0).current.enter = 6100;
    expect_events(paths(), 7);
  }
  EXPECT_EQ(collect_all().recovered_events, 2U);
  expect_events({run_dir_.path(), "", ""}, 2);
}

TEST_F(CollectTest, EventsThatAreNotToBeWrittenAreLeftOut) {
  ProcessRecord process = process_record(0, ProcessState::exited);
  process.flags |= format::traced | format::not_written;
  Segment segment(segment_dir_, process);
  fill(segment);
  EXPECT_EQ(collect_all().recovered_events, 0U);
  auto run = reader::Run::open({run_dir_.path(), "", ""});
  EXPECT_TRUE(run->processes().at(0).events.empty());
  EXPECT_EQ(run->profile_sums({.function = true})[0].calls, 5U);
}

TEST_F(CollectTest, ASegmentThatFoundNoRoomInSharedMemoryIsInTheRunDirectory) {
  Segment segment(run_dir_, process_record(0, ProcessState::exited));
  fill(segment);
  EXPECT_EQ(reader::Run::open(paths())->processes().size(), 1U);
  EXPECT_EQ(collect_all().processes, 1U);
  EXPECT_FALSE(run_dir_.has(segment.name()));
  expect_complete();
}

TEST_F(CollectTest, ADeadProcessIsMovedToTheRunDirectory) {
  Segment segment(segment_dir_, process_record(0, ProcessState::exited));
  fill(segment);
  const Collected collected = collect_all();
  EXPECT_EQ(collected.processes, 1U);
  EXPECT_EQ(collected.recovered_events, 5U);
  EXPECT_EQ(collected.kept, 0U);
  EXPECT_TRUE(collected.messages.empty());
  EXPECT_FALSE(segment_dir_.has(segment.name()));
  expect_complete();
}

TEST_F(CollectTest, ALiveProcessIsLeftAlone) {
  ProcessRecord process = process_record(0, ProcessState::running);
  process.pid = static_cast<std::uint32_t>(::getpid());
  Segment segment(segment_dir_, process);
  fill(segment);
  const Collected collected = collect_all();
  EXPECT_EQ(collected.processes, 0U);
  EXPECT_EQ(collected.running, 1U);
  EXPECT_TRUE(segment_dir_.has(segment.name()));
}

TEST_F(CollectTest, WhatALiveProcessHasRecordedCanBeSaved) {
  ProcessRecord process = process_record(0, ProcessState::running);
  process.pid = static_cast<std::uint32_t>(::getpid());
  process.end = process.finalize_enter = process.finalize_leave = 0;
  Segment segment(segment_dir_, process);
  fill(segment);
  for (int repeat = 0; repeat < 2; ++repeat) {
    const auto saved = collect(paths(), {.saves_living = true});
    ASSERT_TRUE(saved);
    EXPECT_EQ(saved->processes, 0U);
    EXPECT_EQ(saved->running, 1U);
    EXPECT_TRUE(segment_dir_.has(segment.name()));
    expect_complete();
  }
  segment.add_record(0, bytes_of(call_record("MPI_Send", 1, 3100, 3105)));
  segment.add_row(0, profile_row("MPI_Recv", 1, 2, 1000, 80));
  ASSERT_TRUE(collect(paths(), {.saves_living = true}));
  auto run = reader::Run::open({run_dir_.path(), "", ""});
  ASSERT_TRUE(run);
  EXPECT_EQ(run->processes()[0].state, State::unknown) << "the run is over, and nothing says how this one ended";
  EXPECT_TRUE(run->processes()[0].has_results);
  EXPECT_EQ(run->profile_sums({.function = true}).size(), 2U);
  auto stream = EventStream::open(*run, {});
  ASSERT_TRUE(stream);
  EXPECT_EQ(stream->next(1000).size(), 6U) << "each event once";
}

TEST_F(CollectTest, WhatWasSavedOfALiveProcessEndsWhenItWasSeenAndIsNotAll) {
  ProcessRecord process = process_record(2, ProcessState::running);
  process.pid = static_cast<std::uint32_t>(::getpid());
  process.end = process.finalize_enter = process.finalize_leave = 0;
  {
    Segment segment(segment_dir_, process);
    fill(segment);
    segment.location(0).current.enter = 6000;
    ASSERT_TRUE(collect(paths(), {.saves_living = true}));
    auto run = reader::Run::open({run_dir_.path(), "", ""});
    ASSERT_TRUE(run);
    EXPECT_EQ(run->processes()[0].end, 6000U);
    EXPECT_EQ(net_ticks(run->processes()[0]), 6000 - process.init_leave);
    ASSERT_EQ(run->saved().size(), 1U);
    EXPECT_EQ(run->saved()[0].first, 2);
    EXPECT_EQ(run->saved()[0].host, this_host());
    EXPECT_TRUE(reader::Run::open(paths())->saved().empty()) << "here, all of it can be read";
    segment.location(0).current.enter = 8000;
  }
  EXPECT_EQ(collect_all().processes, 1U) << "it no longer maps its segment";
  auto run = reader::Run::open({run_dir_.path(), "", ""});
  ASSERT_TRUE(run);
  EXPECT_EQ(run->processes()[0].end, 8000U);
  EXPECT_TRUE(run->saved().empty());
}

TEST_F(CollectTest, OfAProcessThatMayRunNothingIsTakenUnlessItIsPresumedToHaveEnded) {
  Segment segment(segment_dir_, process_record(0, ProcessState::running));
  fill(segment);
  segment.header().maker.pid_namespace = 1;  // in which the process id means another process
  const Collected collected = collect_all();
  EXPECT_EQ(collected.processes + collected.running, 0U);
  EXPECT_EQ(collected.unknown, 1U);
  EXPECT_TRUE(segment_dir_.has(segment.name()));
  const auto never = [](const SegmentName&) -> std::optional<Ending> {
    ADD_FAILURE() << "the end of another process";
    return std::nullopt;
  };
  EXPECT_EQ(collect(paths(), {.ending_of = never, .presume_ended = true})->processes, 1U);
  EXPECT_FALSE(segment_dir_.has(segment.name()));
  expect_complete();
}

TEST_F(CollectTest, AKilledProcessKeepsTheTimeOfItsLastCall) {
  ProcessRecord process = process_record(0, ProcessState::running);
  process.end = process.finalize_enter = process.finalize_leave = 0;
  Segment segment(segment_dir_, process);
  fill(segment);
  segment.location(0).current.enter = 6000;
  collect_all();
  auto run = reader::Run::open({run_dir_.path(), "", ""});
  ASSERT_TRUE(run);
  EXPECT_EQ(run->processes()[0].state, State::killed);
  EXPECT_EQ(run->processes()[0].end, 6000U);
}

TEST_F(CollectTest, AProcessIsKilledWhenTheCommandEndsAtTheLatest) {
  ProcessRecord process = process_record(0, ProcessState::running);
  process.end = process.finalize_enter = process.finalize_leave = 0;
  Segment segment(segment_dir_, process);
  fill(segment);
  segment.location(0).current.enter = 6000;
  segment.location(0).current.function = function_number("MPI_Recv");
  collect_all(6500);  // a tick is a nanosecond
  auto run = reader::Run::open({run_dir_.path(), "", ""});
  ASSERT_TRUE(run);
  const Process& killed = run->processes()[0];
  EXPECT_EQ(killed.state, State::killed);
  EXPECT_NEAR(static_cast<double>(killed.end), 6500, 2);
  EXPECT_EQ(killed.record.flags & format::ended_with_command, format::ended_with_command);
  const Account account = account_of(killed, run->totals(0));
  EXPECT_EQ(account.unreturned_ns, static_cast<std::int64_t>(killed.end) - 6000);
  EXPECT_GE(account.mpi_ns, account.unreturned_ns);
}

TEST_F(CollectTest, WhatAProcessWasInWhenItWasKilledIsMpiIfItIsACallOfMpi) {
  ProcessRecord process = process_record(0, ProcessState::running);
  process.end = process.finalize_enter = process.finalize_leave = 0;
  Segment segment(segment_dir_, process);
  fill(segment);
  segment.location(0).current.function = function_number("MPI_Recv") | format::returned;
  segment.location(0).others.call.enter = 6000;
  segment.location(0).others.call.function = function_number("read");
  collect_all(6500);
  auto run = reader::Run::open({run_dir_.path(), "", ""});
  ASSERT_TRUE(run);
  EXPECT_NEAR(static_cast<double>(run->processes()[0].end), 6500, 2);
  EXPECT_EQ(account_of(run->processes()[0], run->totals(0)).unreturned_ns, 0);
}

TEST_F(CollectTest, AProcessEndedAsItWasSeenToEnd) {
  ProcessRecord process = process_record(0, ProcessState::running);
  process.end = process.finalize_enter = process.finalize_leave = 0;
  Segment segment(segment_dir_, process);
  fill(segment);
  const int status = SIGSEGV;  // as of waitpid
  const auto seen = [&](const SegmentName& segment) { return std::optional<Ending>({segment.pid, 6200, status}); };
  ASSERT_TRUE(collect(paths(), {.command_ended_ns = 6500, .ending_of = seen}));
  auto run = reader::Run::open({run_dir_.path(), "", ""});
  ASSERT_TRUE(run);
  const Process& killed = run->processes()[0];
  EXPECT_EQ(killed.state, State::killed);
  EXPECT_EQ(format::signal_of(killed.record), SIGSEGV);
  EXPECT_NEAR(static_cast<double>(killed.end), 6200, 2);
  EXPECT_EQ(killed.record.flags & (format::end_seen | format::ended_with_command), format::end_seen);
}

TEST_F(CollectTest, AProcessThatWasSeenToExitWasNotKilled) {
  ProcessRecord process = process_record(0, ProcessState::running);
  process.init_enter = 10;
  process.end = process.finalize_enter = process.finalize_leave = 0;
  Segment segment(segment_dir_, process);
  fill(segment);
  const auto seen = [](const SegmentName& segment) { return std::optional<Ending>({segment.pid, 6200, 7 << 8}); };
  ASSERT_TRUE(collect(paths(), {.command_ended_ns = 6500, .ending_of = seen}));
  auto run = reader::Run::open({run_dir_.path(), "", ""});
  ASSERT_TRUE(run);
  EXPECT_EQ(run->processes()[0].state, State::exited);
  EXPECT_EQ(run->processes()[0].record.exit_code, 7);
}

TEST_F(CollectTest, AProcessThatHasExitedEndedThen) {
  const ProcessRecord process = process_record(0, ProcessState::exited);
  Segment segment(segment_dir_, process);
  fill(segment);
  collect_all(process.end + 1'000'000);
  EXPECT_EQ(reader::Run::open({run_dir_.path(), "", ""})->processes()[0].end, process.end);
}

// Wherever a collector is killed, the next one completes its work, and nothing is counted twice.
TEST_F(CollectTest, MayBeKilledAnywhereAndCalledAgain) {
  Segment segment(segment_dir_, process_record(0, ProcessState::exited));
  fill(segment);
  const std::string bytes = segment_dir_.read(segment.name());
  collect_all();
  const std::string whole = run_dir_.read(file());
  for (std::size_t written = 0; written <= whole.size(); written += 13) {
    segment_dir_.write(segment.name(), bytes);
    run_dir_.write(file(), whole.substr(0, written));
    collect_all();
    EXPECT_FALSE(segment_dir_.has(segment.name()));
    auto run = reader::Run::open({run_dir_.path(), "", ""});
    ASSERT_TRUE(run);
    ASSERT_EQ(run->profile_sums({.function = true}).size(), 1U);
    EXPECT_EQ(run->profile_sums({.function = true})[0].calls, 5U);
    EXPECT_EQ(run->functions().name(run->profile_sums({.function = true})[0].key.function), "MPI_Send");
    auto stream = EventStream::open(*run, {});
    EXPECT_EQ(stream->next(1000).size(), 5U) << written;
  }
}

// A process wrote its results in MPI_Abort, continued, and was then killed.
TEST_F(CollectTest, WhatAChunkOnDiskDoesNotHoldIsAdded) {
  const ProcessRecord process = process_record(0, ProcessState::aborted);
  Segment segment(segment_dir_, process);
  fill(segment);
  const std::string first = bytes_of(call_record("MPI_Send", 1, 3000, 3005));
  run_dir_.write(file(), functions_chunk() + process_chunk(process) + events_chunk(process, 0, 0, first));
  collect_all();
  expect_complete();
}

TEST_F(CollectTest, OnAFullDiskTheSegmentStays) {
  Segment segment(segment_dir_, process_record(0, ProcessState::exited));
  fill(segment);
  // There is only room for a part of the first chunk.
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &limit), 0);
  const rlimit small{100, limit.rlim_max};
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const Collected full = collect_all();
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  std::signal(SIGXFSZ, before);
  EXPECT_EQ(full.kept, 1U);
  EXPECT_EQ(full.processes, 0U);
  ASSERT_EQ(full.messages.size(), 1U);
  EXPECT_NE(full.messages[0].find("disk full: the results of 1 process are kept in"), std::string::npos)
      << full.messages[0];
  EXPECT_NE(full.messages[0].find("tare recover"), std::string::npos);
  std::filesystem::remove(run_dir_.path(file()));
  EXPECT_EQ(collect_all().processes, 1U);
  expect_complete();
}

TEST_F(CollectTest, ASegmentOfAnotherVersionStaysAndIsNamed) {
  Segment segment(segment_dir_, process_record(0, ProcessState::exited));
  segment.header().layout = 99;
  const Collected collected = collect_all();
  EXPECT_EQ(collected.messages.size(), 1U);
  EXPECT_TRUE(segment_dir_.has(segment.name()));
}

TEST_F(CollectTest, ASegmentThatNeverBeganGoes) {
  const std::string name = std::string("tare-") + run_id + "-" + std::to_string(dead_pid()) + "-0";
  segment_dir_.write(name, std::string(8192, '\0'));
  EXPECT_TRUE(collect_all().messages.empty());
  EXPECT_FALSE(segment_dir_.has(name));
}

TEST_F(CollectTest, WhatRanksSharedOfSampledMessagesGoes) {
  const std::string own = std::string("tare-") + run_id + format::mail_suffix + "00ff";
  const std::string foreign = std::string("tare-fedcba9876543210") + format::mail_suffix + "00ff";
  segment_dir_.write(own, "x");
  segment_dir_.write(foreign, "x");
  EXPECT_TRUE(collect_all().messages.empty());
  EXPECT_FALSE(segment_dir_.has(own));
  EXPECT_TRUE(segment_dir_.has(foreign));
}

// A run directory of somebody else names the id of this run, which the names of segments show to all.
TEST_F(CollectTest, ASegmentGoesOnlyToTheRunDirectoryWithItsKey) {
  const std::string key(format::run_key_digits, 'a');
  const std::string shared = std::string("tare-") + run_id + format::step_suffix;
  segment_dir_.write(shared, "x");
  Segment segment(segment_dir_, process_record(0, ProcessState::exited));
  fill(segment);
  std::memcpy(segment.header().run_key.digits, key.data(), key.size());
  for (const std::string& other : {std::string(), std::string(format::run_key_digits, 'b')}) {
    RunPaths paths = this->paths();
    paths.run_key = other;
    const auto collected = collect(paths);
    ASSERT_TRUE(collected);
    EXPECT_EQ(collected->processes, 0U);
    ASSERT_EQ(collected->messages.size(), 1U);
    EXPECT_NE(collected->messages[0].find("made for another run directory"), std::string::npos);
    EXPECT_TRUE(segment_dir_.has(segment.name()));
    EXPECT_TRUE(segment_dir_.has(shared)) << "processes of the other run may use it";
    EXPECT_FALSE(run_dir_.has(file()));
    auto run = reader::Run::open(paths);
    ASSERT_TRUE(run);
    EXPECT_TRUE(run->processes().empty()) << "nor is it read";
    EXPECT_EQ(run->warnings(), collected->messages);
  }
  RunPaths paths = this->paths();
  paths.run_key = key;
  const auto collected = collect(paths);
  ASSERT_TRUE(collected);
  EXPECT_EQ(collected->processes, 1U);
  EXPECT_FALSE(segment_dir_.has(segment.name()));
  EXPECT_FALSE(segment_dir_.has(shared));
  expect_complete();
}

TEST_F(CollectTest, FilesOfOtherUsersAreNotOpened) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs to give files away";
  for (unsigned n = 0; n < 3; ++n) {
    const std::string name = std::string("tare-") + run_id + "-" + std::to_string(::getpid()) + "-" + std::to_string(n);
    segment_dir_.write(name, "x");
    ASSERT_EQ(::chown(segment_dir_.path(name).c_str(), 65534, 65534), 0);
  }
  Segment segment(segment_dir_, process_record(0, ProcessState::exited));
  fill(segment);
  const Collected collected = collect_all();
  EXPECT_EQ(collected.processes, 1U);
  EXPECT_EQ(collected.running, 0U) << "nobody looks whether their processes live";
  ASSERT_EQ(collected.messages.size(), 1U);
  EXPECT_NE(collected.messages[0].find("3 files of other users"), std::string::npos);
  expect_complete();
}

TEST_F(CollectTest, TornRecordsAtTheEndOfABufferAreLeftOut) {
  Segment segment(segment_dir_, process_record(0, ProcessState::running));
  fill(segment);
  segment.add_record(0, std::string(16, '\xff'));
  const Collected collected = collect_all();
  EXPECT_EQ(collected.recovered_events, 5U);
  EXPECT_EQ(collected.messages.size(), 1U);
}

TEST_F(CollectTest, SymbolsAreStoredOnce) {
  // An object with symbols: this test program, which is mapped `bias` higher than its file says.
  Dl_info self{};
  ASSERT_NE(::dladdr(reinterpret_cast<void*>(&collect), &self), 0);
  const auto address = reinterpret_cast<std::uint64_t>(&collect) - reinterpret_cast<std::uint64_t>(self.dli_fbase) + 4;
  const std::string program = std::filesystem::read_symlink("/proc/self/exe");
  const std::string log = module_definition(1, program) + site_definition(1, 1, address) + site_definition(2, 7, 64);
  Segment segment(segment_dir_, process_record(0, ProcessState::exited));
  segment.define(log);
  collect_all();
  const std::string once = run_dir_.read(file());
  auto run = reader::Run::open({run_dir_.path(), "", ""});
  ASSERT_TRUE(run);
  EXPECT_TRUE(run->new_symbols().empty());
  const auto site = static_cast<std::size_t>(run->processes()[0].sites.find(1));
  const std::string& caller = run->sites()[site].symbol.caller;
  // Without full debug information, clang has no qualified names.
  EXPECT_TRUE(caller.starts_with("tare::reader::collect(") || caller == "collect") << caller;
  collect_all();
  EXPECT_EQ(run_dir_.read(file()), once);
}

TEST_F(CollectTest, NeedsARun) {
  EXPECT_FALSE(collect({run_dir_.path(), "", run_id}));
  for (const char* id : {"..", "*", "0123456789abcde", "0123456789abcdef/../x"})
    EXPECT_FALSE(collect({run_dir_.path(), segment_dir_.path(), id})) << id;
}

// The run directory contains links with the names of the files to write.
TEST_F(CollectTest, NothingIsWrittenToWhereALinkLeads) {
  const TempDir outside;
  outside.write("theirs", "untouched");
  for (const bool hard : {false, true}) {
    Segment segment(segment_dir_, process_record(0, ProcessState::exited));
    fill(segment);
    const std::string from = outside.path("theirs");
    ASSERT_EQ(hard ? ::link(from.c_str(), run_dir_.path(file()).c_str())
                   : ::symlink(from.c_str(), run_dir_.path(file()).c_str()),
              0);
    const auto collected = collect(paths());
    if (hard) {
      EXPECT_EQ(collected->kept, 1U);
      EXPECT_FALSE(collected->messages.empty());
    } else {
      EXPECT_NE(collected.error().find("is a symbolic link"), std::string::npos) << collected.error();
    }
    EXPECT_TRUE(segment_dir_.has(segment.name())) << "nothing is lost";
    EXPECT_EQ(outside.read("theirs"), "untouched");
    ASSERT_EQ(::unlink(run_dir_.path(file()).c_str()), 0);
    EXPECT_EQ(collect_all().processes, 1U);
    ASSERT_EQ(::unlink(run_dir_.path(file()).c_str()), 0);
  }
}

TEST_F(CollectTest, AHostIsNoPath) {
  ProcessRecord process = process_record(0, ProcessState::exited);
  strcpy(process.host, "../../x\n");
  Segment segment(segment_dir_, process);
  fill(segment);
  EXPECT_EQ(collect_all().processes, 1U);
  EXPECT_TRUE(run_dir_.has("_._.._x_.tare"));
}

TEST_F(CollectTest, APipeIsNotWaitedFor) {
  ASSERT_EQ(::mkfifo(run_dir_.path("pipe.tare").c_str(), 0600), 0);
  const auto collected = collect(paths());
  ASSERT_FALSE(collected);
  EXPECT_NE(collected.error().find("pipe.tare is not a regular file"), std::string::npos) << collected.error();
}

}  // namespace
}  // namespace tare::reader
