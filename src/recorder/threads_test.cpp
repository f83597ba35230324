// Threads that record: many, short-lived, at the end of the program, and across fork().
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "recorder/process_end.h"
#include "recorder/segment.h"
#include "recorder/testing/recorded_run.h"
#include "tare/tare.hpp"

// Whoever looks for leaks stops all threads first. In a forked child, some are missing, and it may wait for them
// forever.
static bool lacks_threads = false;
extern "C" int __lsan_is_turned_off();
extern "C" int __lsan_is_turned_off() { return lacks_threads ? 1 : 0; }

namespace tare::recorder {
namespace {

class RecorderThreads : public RecordedRun {};

void in_threads(int count, const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(count));
  for (int t = 0; t < count; ++t) threads.emplace_back(body, t);
  for (std::thread& thread : threads) thread.join();
}

TEST_F(RecorderThreads, ThreadsThatRegisterANameAgree) {
  constexpr int threads = 8, names = 200;
  const ReadBack run = record([] {
    static tare_id ids[threads][names];
    in_threads(threads, [](int t) {
      for (int i = 0; i < names; ++i) {
        ids[t][i] = tare_define_event(("name" + std::to_string(i)).c_str(), "i");
        tare_record1(ids[t][i], static_cast<std::uint64_t>(t));
      }
    });
    for (int t = 1; t < threads; ++t)
      if (std::memcmp(ids[t], ids[0], sizeof ids[0]) != 0) std::exit(1);
  });
  EXPECT_EQ(run.types.size(), std::size_t{names});
  EXPECT_EQ(run.definitions, std::size_t{names});
  EXPECT_EQ(run.events.size(), std::size_t{threads * names});
}

// Each of `threads` threads has recorded `each` events with its number and a count.
void expect_all(const ReadBack& run, int threads, int each) {
  std::map<std::uint64_t, std::uint64_t> next;
  std::map<std::uint64_t, std::set<std::uint32_t>> locations;
  for (const Event& event : run.events) {
    if (event.words.size() != 2) continue;
    EXPECT_EQ(event.words[1], next[event.words[0]]++) << "thread " << event.words[0];
    locations[event.words[0]].insert(event.location);
  }
  EXPECT_EQ(next.size(), static_cast<std::size_t>(threads));
  for (const auto& [thread, n] : next) EXPECT_EQ(n, static_cast<std::uint64_t>(each)) << "thread " << thread;
  std::set<std::uint32_t> all;
  for (const auto& [thread, numbers] : locations) {
    EXPECT_EQ(numbers.size(), 1U) << "thread " << thread << " has more than one number";
    all.insert(numbers.begin(), numbers.end());
  }
  EXPECT_EQ(all.size(), static_cast<std::size_t>(threads)) << "threads share a number";
}

void record_numbered(int thread, int each) {
  static const tare::event<int, int> event{"numbered"};
  for (int i = 0; i < each; ++i) event(thread, i);
}

TEST_F(RecorderThreads, ThreadsInSequenceUseOneBlockAgain) {
  const ReadBack run = record([] {
    for (int t = 0; t < 2000; ++t) std::thread(record_numbered, t, 5).join();
  });
  expect_all(run, 2000, 5);
  EXPECT_EQ(run.blocks.size(), 1U);
  EXPECT_EQ(run.processes.begin()->second.threads, 2000U);
}

// MPI_Abort may not come back, so the process writes its results in it; and mostly it goes on to its exit handlers.
TEST_F(RecorderThreads, WhatIsRecordedAfterAnAbortIsKept) {
  for (const int after : {1, 20, 30000}) {  // with the buffer as it is, and drained
    const ReadBack run = record([after] {
      record_numbered(0, 20);
      tare::recorder::note_abort();
      std::thread(record_numbered, 1, after).join();
      record_numbered(2, after);
    });
    EXPECT_EQ(run.events.size(), 20U + 2 * static_cast<unsigned>(after));
    EXPECT_EQ(run.processes.begin()->second.state, tare::format::ProcessState::aborted);
    EXPECT_EQ(std::system(("rm -r '" + directory() + "'").c_str()), 0);
  }
}

TEST_F(RecorderThreads, NamesOfThreadsAreKept) {
  const ReadBack run = record([] {
    pthread_setname_np(pthread_self(), "main");
    record_numbered(0, 1);
    std::thread(record_numbered, 1, 1).join();  // has the name of the first
    std::thread([] {
      pthread_setname_np(pthread_self(), "worker");
      record_numbered(2, 1);
    }).join();
    std::thread([] {  // in the block of the one before
      record_numbered(3, 1);
      pthread_setname_np(pthread_self(), "renamed later");
    })
        .join();
  });
  using Names = std::vector<std::string>;
  const std::map<std::uint32_t, Names> expected = {{0, {"main"}}, {2, {"worker"}}, {3, {"renamed later"}}};
  EXPECT_EQ(run.threads, expected);
}

TEST_F(RecorderThreads, ManyThreadsAtOnceLoseNothing) {
  const ReadBack run = record(
      [] {
        in_threads(200, [](int t) {
          static std::atomic<int> started{0};
          record_numbered(t, 1);  // a location of its own, before any ends
          for (++started; started < 200;) std::this_thread::yield();
          static const tare::event<int, int> event{"numbered"};
          for (int i = 1; i < 100; ++i) event(t, i);
        });
      },
      "4096");
  expect_all(run, 200, 100);
  EXPECT_EQ(run.blocks.size(), 200U);
}

TEST_F(RecorderThreads, ThousandsOfThreadsComeAndGo) {
  constexpr int at_once = 30, waves = 100;
  const ReadBack run = record(
      [] {
        for (int wave = 0; wave < waves; ++wave)
          in_threads(at_once, [wave](int t) { record_numbered(wave * at_once + t, 20); });
      },
      "8192");
  expect_all(run, at_once * waves, 20);
  EXPECT_LE(run.blocks.size(), std::size_t{at_once}) << "blocks of threads that have ended are used again";
  EXPECT_EQ(run.processes.begin()->second.threads, unsigned{at_once * waves});
  EXPECT_EQ(run.processes.begin()->second.unmeasured_threads, 0U);
}

TEST_F(RecorderThreads, ThreadsWithoutRoomAreCounted) {
  testing::internal::CaptureStderr();
  const ReadBack run = record([] {
    tare_mark(tare_define_marker("marker"));
    rlimit limit{};
    getrlimit(RLIMIT_FSIZE, &limit);
    const rlimit small{std::size_t{1} << 20, limit.rlim_max};  // the segment cannot grow
    setrlimit(RLIMIT_FSIZE, &small);
    in_threads(3, [](int t) { record_numbered(t, 5); });
    setrlimit(RLIMIT_FSIZE, &limit);
  });
  EXPECT_EQ(
      testing::internal::GetCapturedStderr(),
      "tare: the limit of the size of files (ulimit -f) leaves no room for another thread's buffer: this thread is "
      "not measured\n");
  EXPECT_EQ(run.processes.begin()->second.unmeasured_threads, 3U);
  EXPECT_EQ(run.events.size(), 1U);
}

TEST_F(RecorderThreads, WithoutRoomForTheFirstThreadNothingIsMeasured) {
  testing::internal::CaptureStderr();
  const int code = run_program([&] {
    const rlimit small{std::size_t{64} << 10, std::size_t{64} << 10};
    if (setrlimit(RLIMIT_FSIZE, &small) != 0) return 90;
    tare_start(directory().c_str());
    tare_mark(tare_define_marker("marker"));
    return 0;
  });
  EXPECT_EQ(code, 0);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "tare: the limit of the size of files (ulimit -f) leaves no room for a segment: this process is not "
            "measured\n");
}

TEST_F(RecorderThreads, ThreadsThatDrainAtTheSameTimeLoseNothing) {
  const ReadBack run = record([] { in_threads(8, [](int t) { record_numbered(t, 20000); }); }, "4096");
  expect_all(run, 8, 20000);
  EXPECT_GT(run.flushes, 500U);
  for (const auto& [block, summary] : run.blocks) EXPECT_EQ(summary.dropped, 0U);
  const auto& process = run.processes.begin()->second;
  EXPECT_GT(process.clock_last.ticks, process.clock_start.ticks);
  EXPECT_GT(process.clock_last.monotonic_ns, process.clock_start.monotonic_ns);
}

TEST_F(RecorderThreads, WhatAThreadRecordsWhileItEndsIsKept) {
  const ReadBack run = record([] {
    static const tare::marker marker{"last"};
    struct AtEnd {
      ~AtEnd() { marker(); }
    };
    std::thread([] {
      static thread_local std::unique_ptr<AtEnd> at_end;
      at_end = std::make_unique<AtEnd>();
      marker();
    }).join();
  });
  EXPECT_EQ(run.count("last"), 2U);
}

TEST_F(RecorderThreads, AProgramMayEndWhileThreadsRecord) {
  static std::atomic<int> running{0};
  const ReadBack run = record(
      [] {
        for (int t = 0; t < 4; ++t)
          std::thread([t] {
            static const tare::event<int, int> event{"numbered"};
            for (int i = 0;; ++i) {
              event(t, i);
              if (i == 5000) ++running;
            }
          }).detach();
        while (running < 4) std::this_thread::yield();
      },
      "65536");
  std::map<std::uint64_t, std::uint64_t> next;
  for (const Event& event : run.events) EXPECT_EQ(event.words.at(1), next[event.words.at(0)]++);
  ASSERT_EQ(next.size(), 4U);
  for (const auto& [thread, n] : next) EXPECT_GE(n, 5000U);
}

TEST_F(RecorderThreads, AForkedChildHasASegmentOfItsOwn) {
  const ReadBack run = record([] {
    const tare::marker parent{"parent"}, child{"child"};
    for (int i = 0; i < 10; ++i) parent();
    const int code = run_program([&] {
      if (tare_start("nowhere/at/all") != 0) return 1;  // the run has begun: nothing to do
      for (int i = 0; i < 7; ++i) child();
      std::thread([&] { child(); }).join();
      return 0;
    });
    if (code != 0) std::exit(code);
    for (int i = 0; i < 10; ++i) parent();
  });
  EXPECT_EQ(run.count("parent"), 20U);
  EXPECT_EQ(run.count("child"), 8U);
  EXPECT_EQ(run.processes.size(), 2U);
  std::set<std::uint64_t> parents, children;
  for (const Event& event : run.events) (event.type.name == "parent" ? parents : children).insert(event.process);
  EXPECT_EQ(parents.size(), 1U);
  EXPECT_EQ(children.size(), 1U);
  EXPECT_NE(parents, children);
}

TEST_F(RecorderThreads, AForkWhileThreadsRecordDoesNotHang) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the race detector's own run-time does not survive a fork of a program with threads";
#endif
  const ReadBack run = record(
      [] {
        static std::atomic<bool> stop{false};
        std::thread writer([] {
          static const tare::marker marker{"writer"};
          while (!stop) marker();
        });
        for (int i = 0; i < 30; ++i) {
          // In a child of a program with threads, only what is safe after fork: recording is.
          const pid_t child = fork();
          if (child == 0) {
            lacks_threads = true;
            static const tare_id marker = tare_define_marker("child");
            for (int n = 0; n < 1000; ++n) tare_mark(marker);
            std::exit(tare_recording() == 1 ? 0 : 1);
          }
          int status = 0;
          waitpid(child, &status, 0);
          if (status != 0) std::exit(1);
        }
        stop = true;
        writer.join();
      },
      "4096");
  EXPECT_GT(run.count("writer"), 0U);
  EXPECT_EQ(run.count("child"), 30U * 1000U);
}

TEST_F(RecorderThreads, ManyNamesLeaveRoomForOtherDefinitions) {
  const ReadBack run = record([] {
    for (int t = 0; t < 9000; ++t)
      std::thread([t] {
        pthread_setname_np(pthread_self(), std::to_string(t).c_str());
        record_numbered(t, 1);
      }).join();
  });
  EXPECT_EQ(run.threads.size(), 1024U);
  EXPECT_EQ(run.processes.begin()->second.definitions_lost, 0U);
}

}  // namespace
}  // namespace tare::recorder
