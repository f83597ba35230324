// A thread that records, and who drains its buffer meanwhile: another thread, or tared, which may die at any moment.
#include <dirent.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "recorder/here.h"
#include "recorder/node_words.h"
#include "recorder/outside_drain.h"
#include "recorder/process.h"
#include "recorder/process_chunks.h"
#include "recorder/segment.h"
#include "recorder/testing/recorded_run.h"
#include "tare/tare.hpp"

namespace tare::recorder {
namespace {

constexpr std::uint64_t many = 50'000;
constexpr auto patience = std::chrono::seconds(60);

bool is_true_soon(const std::function<bool()>& condition) {
  const auto until = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

// Processes of a command line that holds `text`; of one that has ended and is waited for there is none.
std::vector<pid_t> processes_with(const std::string& text) {
  std::vector<pid_t> found;
  DIR* entries = opendir("/proc");
  while (const dirent* entry = readdir(entries)) {
    const pid_t pid = std::atoi(entry->d_name);
    if (pid <= 0 || pid == getpid()) continue;
    std::ifstream file("/proc/" + std::to_string(pid) + "/cmdline");
    std::ostringstream line;
    line << file.rdbuf();  // empty if the process ends meanwhile, where an iterator would throw
    if (line.str().find(text) != std::string::npos) found.push_back(pid);
  }
  closedir(entries);
  return found;
}

// Events in which each has the number behind that of the one before.
class Numbered {
 public:
  void record(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) event_(recorded_++);
  }
  std::uint64_t recorded() const { return recorded_; }

 private:
  packed event_{"event"};
  std::uint64_t recorded_ = 0;
};

// In a program: records until `condition`; ends it if that does not become true.
void record_until(Numbered& events, const std::function<bool()>& condition) {
  const auto until = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) std::exit(92);
    events.record(1000);
  }
}

const format::TaredTotals& of_tared() { return here()->shared().tared; }
bool has_drained() {
  // Volatile, because another process writes it.
  return static_cast<const volatile std::uint64_t&>(of_tared().drains) != 0;
}

class Tared : public RecordedRun {
 protected:
  void TearDown() override {
    // tared ends by itself after the program has ended.
    EXPECT_TRUE(is_true_soon([&] { return processes_with(directory()).empty(); }));
    RecordedRun::TearDown();
  }

  // Records a program that writes events into the object that it gets. Its last event is a raw one, whose text says
  // what it has recorded.
  ReadBack record_with_tared(const std::function<void(Numbered&)>& program, Variables variables = {}) {
    variables.emplace("TARE_DRAIN", TARED);
    return record(
        [&program] {
          Numbered events;
          events.record(1);  // the segment exists, and tared is being started
          if (!is_true_soon([] { return tared_serves(); })) std::exit(91);
          program(events);
          const raw count{"count"};
          count(std::to_string(events.recorded()));
        },
        "65536", variables);
  }

  static void expect_all(const ReadBack& run) {
    std::uint64_t next = 0;
    for (const Words& words : run.words("event")) EXPECT_EQ(words.at(0), next++);
    ASSERT_EQ(run.raws.size(), 1U);
    EXPECT_EQ(run.raws.front().text, std::to_string(next));
  }
};

TEST_F(Tared, DrainsBesideTheThread) {
  const ReadBack run = record_with_tared([](Numbered& events) {
    record_until(events, has_drained);
    events.record(many);
  });
  expect_all(run);
  const format::LocationSummary& summary = run.blocks.begin()->second;
  EXPECT_GT(summary.tared.drains, 0U);
  EXPECT_GT(summary.tared.ticks, 0U);
  EXPECT_GT(summary.tared.bytes, 0U);
  EXPECT_GE(summary.tared.raw_bytes, summary.tared.drains * 4000);
  EXPECT_GE(run.flushes, summary.flushes + summary.tared.drains) << "each is an event";
  EXPECT_EQ(summary.dropped, 0U);
}

TEST_F(Tared, MayBeKilledAtAnyMoment) {
  std::minstd_rand random(std::random_device{}());
  for (int repeat = 0; repeat < 10; ++repeat) {
    const unsigned wait_us = random() % 3000;
    const ReadBack run = record_with_tared([&](Numbered& events) {
      std::thread killer([&] {
        std::this_thread::sleep_for(std::chrono::microseconds(wait_us));
        kill(static_cast<pid_t>(node_words->tared), SIGKILL);
      });
      events.record(many);
      killer.join();
      events.record(many);
    });
    expect_all(run);
    ASSERT_EQ(std::system(("rm -r '" + directory() + "'").c_str()), 0);
  }
}

TEST_F(Tared, MayHang) {
  const ReadBack run = record_with_tared([](Numbered& events) {
    const auto tared = static_cast<pid_t>(node_words->tared);
    kill(tared, SIGSTOP);
    record_until(events, [] { return !tared_serves(); });
    events.record(many);
    kill(tared, SIGKILL);
  });
  expect_all(run);
  EXPECT_GT(run.blocks.begin()->second.flushes, 0U);
}

TEST_F(Tared, MayNotExist) {
  const ReadBack run = record(
      [] {
        Numbered events;
        events.record(many);
        const raw count{"count"};
        count(std::to_string(events.recorded()));
      },
      "65536", {{"TARE_DRAIN", "/nowhere/tared"}});
  expect_all(run);
}

TEST_F(Tared, DrainsWhatThreadsWouldDrop) {
  const ReadBack run =
      record_with_tared([](Numbered& events) { record_until(events, has_drained); }, {{"TARE_POLICY", "drop"}});
  const format::LocationSummary& summary = run.blocks.begin()->second;
  EXPECT_GT(run.count("event"), 65536U / 24 / 8) << "more than a sub-buffer";
  EXPECT_EQ(summary.dropped, run.lost);
}

TEST_F(Tared, WritesNothingIfNothingIsToBeWritten) {
  const ReadBack run =
      record_with_tared([](Numbered& events) { record_until(events, has_drained); }, {{"TARE_WRITE", "none"}});
  EXPECT_EQ(run.events.size(), 0U);
  EXPECT_EQ(run.flushes, 0U);
  EXPECT_GT(run.blocks.begin()->second.tared.bytes, 0U) << "what would have been written";
}

TEST_F(Tared, LeavesAFlightRecorderAlone) {
  const ReadBack run = record(
      [] {
        Numbered events;
        events.record(many);
        if (tared_serves() || node_words->started != 0) std::exit(93);
      },
      "65536", {{"TARE_POLICY", "overwrite"}, {"TARE_DRAIN", TARED}});
  EXPECT_LT(run.count("event"), many);
}

TEST_F(Tared, IsNoChildOfTheProgram) {
  record_with_tared([](Numbered&) {
    if (waitpid(-1, nullptr, WNOHANG) != -1 || errno != ECHILD) std::exit(94);
  });
}

// The same with a thread, for race detectors.
TEST_F(Tared, ThreadAndDrainerNeedNoLock) {
  const ReadBack run = record(
      [] {
        Numbered events;
        events.record(1);
        write_definitions(*segment());  // as a thread does that knows of a tared
        format::LocationHeader& block = here()->shared();
        std::atomic<bool> done{false};
        std::thread drainer([&] {
          std::vector<std::uint64_t> copy(segment()->ring.bytes / sizeof(std::uint64_t));
          while (!done) drain_one_full(*segment(), block, block.block, copy.data());
        });
        events.record(2 * many);
        done = true;
        drainer.join();
        const raw count{"count"};
        count(std::to_string(events.recorded()));
      },
      "16384");
  expect_all(run);
}

}  // namespace
}  // namespace tare::recorder
