// Snapshots of a process that is monitored, as tared finds them in its segment.
#include "tared/monitor/node_source.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "format/functions.h"
#include "monitor/cadence.h"
#include "recorder/commit.h"
#include "recorder/here.h"
#include "recorder/node_words.h"
#include "recorder/process.h"
#include "recorder/segment.h"
#include "recorder/testing/recorded_run.h"
#include "tared/monitor/chosen.h"

namespace tare::tared {
namespace {

class Kept : public SnapshotTaker {
 public:
  struct One {
    std::uint64_t round;
    std::uint32_t rank;
    std::int64_t offloaded_ns;
    std::map<std::string, Metrics> events;
    std::uint64_t dropped;
  };
  void name(const EventName& name) override {
    EXPECT_EQ(name.key, event_key(name.text));
    names_[name.key] = name.text;
    units_[name.text] = name.unit;
  }
  const std::map<std::string, std::string>& units() const { return units_; }
  void snapshot(const Snapshot& snapshot) override {
    One one{snapshot.round, snapshot.rank, snapshot.offloaded_ns, {}, snapshot.dropped};
    for (std::size_t i = 0; i < snapshot.keys.size(); ++i) {
      EXPECT_TRUE(i == 0 || snapshot.keys[i] > snapshot.keys[i - 1]);
      EXPECT_TRUE(names_.contains(snapshot.keys[i])) << "it was not named before";
      one.events[names_[snapshot.keys[i]]] = snapshot.values[i];
    }
    snapshots.push_back(one);
  }
  std::vector<One> snapshots;

 private:
  std::map<EventKey, std::string> names_;
  std::map<std::string, std::string> units_;
};

// In the program: as MPI_Init leaves it.
void become_rank(std::int32_t rank, std::int32_t size) {
  recorder::here();
  recorder::segment()->process.rank = rank;
  recorder::segment()->process.size = size;
}
void call(const char* function, std::uint64_t ticks, std::uint64_t bytes, std::uint32_t site) {
  recorder::Call made;
  made.function = static_cast<std::uint16_t>(format::function_number(function));
  made.site = site;
  made.enter = recorder::now();
  made.leave = made.enter + ticks;
  made.bytes = bytes;
  recorder::commit(*recorder::here(), made);
}

class NodeSourceTest : public recorder::RecordedRun {
 protected:
  // A program, and what its tared finds when it has come to its end but still lives.
  Kept watch(const std::function<void()>& program, std::uint64_t times = 1, const char* policy = "nonblock,depth=0") {
    Kept kept;
    int told[2];
    int ended[2];
    EXPECT_EQ(pipe(told) | pipe(ended), 0);
    const pid_t child = fork();
    if (child == 0) {
      close(ended[1]);
      setenv("TARE_MONITOR", (std::string("policy=") + policy).c_str(), 1);
      setenv("TARE_TRACE", "0", 1);
      if (tare_start(directory().c_str()) != 0) _exit(90);
      for (std::uint64_t i = 0; i < times; ++i) {
        program();
        char word = 0;
        if (write(told[1], "x", 1) != 1 || ::read(ended[0], &word, 1) < 0) _exit(91);
      }
      _exit(0);
    }
    close(told[1]);
    char word = 0;
    std::unique_ptr<NodeSource> source;
    for (std::uint64_t i = 0; i < times && ::read(told[0], &word, 1) == 1; ++i) {
      if (source == nullptr) source = std::make_unique<NodeSource>(places(), 0);
      source->look();
      source->poll(kept);
      ranks_ = source->ranks().text();
      EXPECT_EQ(write(ended[1], "x", 1), 1);
    }
    close(ended[1]);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    for (const int fd : {told[0], ended[0]}) close(fd);
    remove_shared_memory();
    return kept;
  }
  RunPlaces places() const {
    recorder::choose_clock();
    std::ifstream file(directory() + "/meta.json");
    const std::string meta{std::istreambuf_iterator<char>(file), {}};
    const auto text_of = [&](const std::string& name) {
      const auto at = meta.find('"', meta.find("\"" + name + "\":") + name.size() + 3) + 1;
      return meta.substr(at, meta.find('"', at) - at);
    };
    return {directory(), text_of("segment_dir"), text_of("run_id")};
  }
  // The run has no keeper, whose task that would be.
  void remove_shared_memory() const {
    const RunPlaces of = places();
    EXPECT_EQ(std::system(("rm -f '" + of.segment_directory + "'/tare-'" + of.run_id + "'*").c_str()), 0);
  }
  std::string ranks_;
};

TEST_F(NodeSourceTest, WhatHadNoRoomIsToldWithTheNextSnapshot) {
  const Kept kept = watch(
      [] {
        become_rank(0, 1);
        call("MPI_Send", 1000, 10, 1);
        for (int i = 0; i < 4; ++i) tare_offload();
      },
      3, "lossy,depth=2");
  std::vector<std::pair<std::uint64_t, std::uint64_t>> found;
  for (const Kept::One& one : kept.snapshots) found.emplace_back(one.round, one.dropped);
  EXPECT_EQ(found, (decltype(found){{1, 0}, {2, 0}, {5, 2}, {6, 0}, {9, 2}, {10, 0}}));
}

TEST_F(NodeSourceTest, RowsBecomeEventsWithNames) {
  const Kept kept = watch([] {
    become_rank(3, 8);
    const tare_id region = tare_define_region("solve");
    const tare_id counter = tare_define_counter("residual", "m");
    call("MPI_Send", 1000, 10, 1);
    call("MPI_Send", 500, 20, 2);  // another call site of the same function
    call("MPI_Recv", 100, 5, 3);
    tare_enter(region);
    tare_count(counter, 0.5);
    tare_leave(region);
    tare_offload();
  });
  EXPECT_EQ(ranks_, "3");
  ASSERT_EQ(kept.snapshots.size(), 1U);
  const auto& one = kept.snapshots[0];
  EXPECT_EQ(one.round, 1U);
  EXPECT_EQ(one.rank, 3U);
  const auto now = static_cast<std::int64_t>(recorder::read_ns(CLOCK_REALTIME));
  EXPECT_LT(std::abs(now - one.offloaded_ns), 100'000'000'000);
  ASSERT_TRUE(one.events.contains("MPI_Send") && one.events.contains("MPI_Recv"));
  EXPECT_EQ(one.events.at("MPI_Send").calls, 2);
  EXPECT_EQ(one.events.at("MPI_Send").bytes, 30);
  EXPECT_NEAR(one.events.at("MPI_Send").time_ns, 15 * one.events.at("MPI_Recv").time_ns, 1e-6);
  ASSERT_TRUE(one.events.contains("region solve"));
  EXPECT_EQ(one.events.at("region solve").calls, 1);
  EXPECT_GT(one.events.at("region solve").time_ns, 0);
  ASSERT_TRUE(one.events.contains("counter residual"));
  EXPECT_EQ(one.events.at("counter residual").bytes, 0.5);
  EXPECT_EQ(kept.units().at("counter residual"), "m");
  EXPECT_EQ(kept.units().at("region solve"), "");
}

TEST_F(NodeSourceTest, AProcessThatIsNoRankIsNone) {
  const Kept kept = watch([] {
    call("MPI_Send", 1, 1, 1);
    tare_offload();
  });
  EXPECT_TRUE(kept.snapshots.empty());
  EXPECT_EQ(ranks_, "");
}

TEST_F(NodeSourceTest, SnapshotsGoOn) {
  const Kept kept = watch(
      [] {
        become_rank(0, 1);
        for (int i = 0; i < 10; ++i) {
          call("MPI_Send", 1, 1, 1);
          tare_offload();
        }
      },
      20);
  ASSERT_EQ(kept.snapshots.size(), 200U);
  for (std::size_t i = 0; i < kept.snapshots.size(); ++i) {
    EXPECT_EQ(kept.snapshots[i].round, i + 1);
    EXPECT_EQ(kept.snapshots[i].events.at("MPI_Send").calls, static_cast<double>(i + 1));
  }
}

// The process overwrites all that tared reads of it with noise, again and again.
TEST_F(NodeSourceTest, AProcessThatSpoilsItsSegmentSpoilsNothingElse) {
  for (unsigned seed = 1; seed <= 30; ++seed) {
    watch(
        [seed] {
          become_rank(0, 1);
          const tare_id region = tare_define_region("solve");
          call("MPI_Send", 1, 1, 1);
          tare_enter(region);
          tare_leave(region);
          for (int i = 0; i < 4; ++i) tare_offload();
          auto* bytes = reinterpret_cast<unsigned char*>(recorder::segment());
          const format::SegmentHeader& header = *recorder::segment();
          std::srand(seed);
          const auto spoil = [](unsigned char* from, std::uint64_t length, int often) {
            for (std::uint64_t i = 0; i < length; ++i)
              if (std::rand() % often == 0) from[i] = static_cast<unsigned char>(std::rand());
          };
          spoil(bytes + header.definitions_at, 4096, 3);
          const std::uint64_t entries = header.offloads_at + sizeof(format::OffloadRing);
          spoil(bytes + entries, 4096, static_cast<int>(1 + seed * 8));
          spoil(reinterpret_cast<unsigned char*>(recorder::here()->shared().phases), 512, 2);
          spoil(reinterpret_cast<unsigned char*>(recorder::here()->profile.rows), 1024, 2);
          if (seed % 5 == 0) recorder::segment()->definitions_bytes = UINT64_MAX;
          if (seed % 7 == 0) recorder::segment()->locations = UINT32_MAX;
          if (seed % 3 == 0) recorder::offload_ring()->head = ~std::uint64_t{7};
        },
        2);
    ASSERT_EQ(std::system(("rm -rf '" + directory() + "'").c_str()), 0);
  }
  ASSERT_EQ(std::system(("mkdir '" + directory() + "'").c_str()), 0);
}

TEST(NodeSourceWords, WhatTheRootDecidesAndKnowsIsToldToTheRanksOfTheNode) {
  NodeSource by_clock({"/nowhere", "/nowhere", "none"}, 1'000'000);
  by_clock.set_pace({70, 5'000'000, 5});
  EXPECT_EQ(recorder::node_words->cadence.load(), monitor::Cadence::word(70, 5));
  by_clock.begin_at(100);
  EXPECT_EQ(recorder::node_words->cadence.load(), monitor::Cadence::word(70, 5)) << "the clock goes on";
  NodeSource by_program({"/nowhere", "/nowhere", "none"}, 0);
  by_program.begin_at(1);
  EXPECT_EQ(recorder::node_words->cadence.load(), monitor::Cadence::word(70, 5)) << "nothing was decided";
  by_program.set_pace({40, 0, 3});
  EXPECT_EQ(recorder::node_words->cadence.load(), monitor::Cadence::word(40, 3));
  by_program.begin_at(50);
  EXPECT_EQ(recorder::node_words->cadence.load(), monitor::Cadence::word(0, 3)) << "another program counts anew";
  format::SweetSpots spots;
  spots.events = 12;
  const Bytes command = encode_command(spots);
  by_program.command(std::span(command).first(16));
  EXPECT_FALSE(recorder::node_words->sweet_spots.read(spots));
  by_program.command(command);
  format::SweetSpots found;
  ASSERT_TRUE(recorder::node_words->sweet_spots.read(found));
  EXPECT_EQ(found.events, 12U);
}

TEST(NodeSourceWords, MessagesOfUsersAreThereOnce) {
  NodeSource source({"/nowhere", "/nowhere", "none"}, 1'000'000);
  const auto send = [&source](std::uint64_t number) {
    format::ControlMessage message;
    message.number = number;
    message.from_point = 10 * number;
    source.command(encode_command(message));
  };
  for (const std::uint64_t number : {1U, 2U, 2U, 1U, 18U}) send(number);
  format::ControlMessages messages;
  ASSERT_TRUE(recorder::node_words->controls.read(messages));
  EXPECT_EQ(messages.last, 18U);
  EXPECT_EQ(recorder::node_words->last_control.load(), 18U);
  EXPECT_EQ(messages.of[1].from_point, 10U);
  EXPECT_EQ(messages.of[2].number, 18U) << "in the place of 2";
}

TEST(MonitorText, HasValues) {
  EXPECT_EQ(value_of("policy=lossy,filter=groups:3,every=1", "filter", "x"), "groups:3");
  EXPECT_EQ(value_of("policy=lossy", "filter", "statistics"), "statistics");
  EXPECT_EQ(value_of("every=1,region=2:a,filter=none", "filter", "statistics"), "statistics");
}

}  // namespace
}  // namespace tare::tared
