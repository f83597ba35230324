// What becomes of events where the buffer is full, or where they are not to be written.
#include <atomic>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

#include "recorder/commit.h"
#include "recorder/here.h"
#include "recorder/testing/recorded_run.h"
#include "tare/tare.hpp"

namespace tare::recorder {
namespace {

class Policies : public RecordedRun {};

constexpr std::uint64_t many = 100'000;  // more than any buffer here holds

void record_many() {
  static const packed event{"event"};
  for (std::uint64_t i = 0; i < many; ++i) event(i);
}

// The values of the events are those from `first` on, one by one; returns the one behind the last.
std::uint64_t consecutive(const ReadBack& run, std::uint64_t first) {
  for (const Words& words : run.words("event")) {
    EXPECT_EQ(words.at(0), first);
    ++first;
  }
  return first;
}

TEST_F(Policies, BlockLosesNothing) {
  const ReadBack run = record(record_many, "8192", {{"TARE_POLICY", "block"}});
  EXPECT_EQ(consecutive(run, 0), many);
  EXPECT_EQ(run.losses, 0U);
  EXPECT_EQ(run.blocks.begin()->second.dropped, 0U);
}

TEST_F(Policies, DropKeepsTheOldestAndCountsTheRest) {
  const ReadBack run = record(record_many, "65536", {{"TARE_POLICY", "drop"}});
  const std::uint64_t kept = consecutive(run, 0);
  EXPECT_GT(kept, 65'536U / 24 - 30);
  EXPECT_LT(kept, 65'536U / 24 + 30);
  EXPECT_EQ(run.losses, 1U);
  EXPECT_EQ(run.lost, many - kept);
  EXPECT_EQ(run.flushes, 0U);
  const format::LocationSummary& summary = run.blocks.begin()->second;
  EXPECT_EQ(summary.dropped, many - kept);
  EXPECT_EQ(summary.api_events, many);
  EXPECT_NE(run.processes.begin()->second.flags & format::drops, 0U);
}

TEST_F(Policies, AThreadThatEndsMakesRoomAgain) {
  const ReadBack run = record(
      [] {
        std::thread(record_many).join();
        std::thread(record_many).join();
      },
      "65536", {{"TARE_POLICY", "drop"}});
  EXPECT_EQ(run.losses, 2U) << "one of each thread";
  EXPECT_EQ(run.lost + run.count("event"), 2 * many);
  EXPECT_GT(run.count("event"), 2 * 65'536U / 24 * 7 / 8);
}

TEST_F(Policies, OverwriteKeepsTheNewest) {
  const ReadBack run = record(record_many, "65536", {{"TARE_POLICY", "overwrite"}});
  const std::uint64_t kept = run.count("event");
  EXPECT_GT(kept, 65'536U * 3 / 4 / 24);
  EXPECT_LE(kept, 65'536U / 24);
  EXPECT_EQ(consecutive(run, many - kept), many);
  EXPECT_EQ(run.losses + run.flushes, 0U);
  const format::LocationSummary& summary = run.blocks.begin()->second;
  EXPECT_EQ(summary.overwritten_bytes, (many - kept) * 24);
  EXPECT_EQ(summary.api_events, many) << "what is overwritten has cost as much";
  EXPECT_EQ(summary.dropped, 0U);
}

TEST_F(Policies, OverwriteKeepsTheNewestOfThreadsThatStillRecord) {
  static std::atomic<bool> running{false};
  const ReadBack run = record(
      [] {
        std::thread([] {
          record_many();
          running = true;
          for (;;) record_many();
        }).detach();
        while (!running) std::this_thread::yield();
      },
      "65536", {{"TARE_POLICY", "overwrite"}});
  EXPECT_GT(run.count("event"), 65'536U / 2 / 24) << "it did not wait while its events were written";
}

TEST_F(Policies, OverwriteNumbersChunksApart) {
  // As many chunks from a sub-buffer as there can be: one begins when an event is of the 256th type.
  const ReadBack run = record(
      [] {
        for (std::uint64_t i = 0; i < many; ++i) {
          static std::vector<tare_id> types;
          if (types.size() < 300) types.push_back(tare_define_packed(("type" + std::to_string(types.size())).c_str()));
          tare_record0(types[i % types.size()]);
        }
      },
      "65536", {{"TARE_POLICY", "overwrite"}});
  EXPECT_GT(run.events.size(), 65'536U * 3 / 4 / 16) << "chunks of the same number are taken for copies";
}

TEST_F(Policies, OverwriteKeepsWhatThreadsRecordedThatEnded) {
  const ReadBack run = record([] { std::thread(record_many).join(); }, "65536", {{"TARE_POLICY", "overwrite"}});
  EXPECT_EQ(consecutive(run, many - run.count("event")), many);
  EXPECT_GT(run.count("event"), 1000U);
}

TEST_F(Policies, KeepLeavesOutWhatIsOlder) {
  const ReadBack run = record(
      [] {
        const packed old{"old"}, young{"young"};
        for (std::uint64_t i = 0; i < 10; ++i) old(i);
        const timespec wait{0, 600'000'000};
        nanosleep(&wait, nullptr);
        for (std::uint64_t i = 0; i < 10; ++i) young(i);
      },
      "65536", {{"TARE_POLICY", "overwrite"}, {"TARE_KEEP_NS", "500000000"}});
  EXPECT_EQ(run.count("old"), 0U);
  EXPECT_EQ(run.count("young"), 10U);
  EXPECT_EQ(run.blocks.begin()->second.overwritten_bytes, 10U * 24);
}

TEST_F(Policies, WriteNoneWritesAllButEvents) {
  const ReadBack run = record(record_many, "8192", {{"TARE_WRITE", "none"}});
  EXPECT_EQ(run.events.size(), 0U);
  const format::LocationSummary& summary = run.blocks.begin()->second;
  EXPECT_GT(summary.flushes, 200U);
  EXPECT_GT(summary.flush_bytes, 1000U) << "what would have been written";
  EXPECT_EQ(summary.dropped, 0U);
  EXPECT_EQ(run.types.size(), 1U);
  EXPECT_NE(run.processes.begin()->second.flags & format::not_written, 0U);
}

// The buffer of a process has room for some 1,300 calls, and contains `calls` when the buffer of another process is
// full. Returns how often the process has drained after its next call.
std::uint64_t drains_beside_a_full_buffer(unsigned calls) {
  Location& location = *here();
  Call call;
  for (unsigned i = 0; i < calls; ++i) commit(location, call);
  const pid_t other = fork();
  if (other == 0) {
    Location& its = *here();
    while (its.shared().summary.flushes == 0) commit(its, call);
    std::exit(0);
  }
  waitpid(other, nullptr, 0);
  const std::uint64_t before = location.shared().summary.flushes;
  commit(location, call);
  return location.shared().summary.flushes - before;
}

TEST_F(Policies, ProcessesOfANodeDrainInStep) {
  for (const auto& [calls, drains] : std::map<unsigned, std::uint64_t>{{300, 0}, {900, 1}}) {
    record(
        [calls = calls, drains = drains] {
          if (drains_beside_a_full_buffer(calls) != drains) std::exit(91);
        },
        "65536");
    ASSERT_EQ(std::system(("rm -r '" + directory() + "'").c_str()), 0);
  }
}

}  // namespace
}  // namespace tare::recorder
