// The API as programs use it. Each program is a forked child of the test; what it recorded is read back from the
// file that it leaves.
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cfloat>
#include <chrono>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "recorder/location.h"
#include "recorder/process.h"
#include "recorder/recorded_run.h"
#include "tare/tare.hpp"

namespace tare::recorder {
namespace {

class Recorder : public RecordedRun {};

TEST_F(Recorder, KeepsEveryKindInOrder) {
  const ReadBack run = record([] {
    const tare::region region{"region"};
    const tare::phase phase{"phase"};
    const tare::counter counter{"counter", "bytes"};
    const tare::marker marker{"marker"};
    const auto in_phase = phase.begin();
    const auto in_region = region.enter();
    counter(-0.5);
    marker();
  });
  const std::vector<std::tuple<EventClass, std::string, Words>> wanted = {
      {EventClass::phase, "phase", {1}},
      {EventClass::region, "region", {1}},
      {EventClass::counter, "counter", {tare_word_of_double(-0.5)}},
      {EventClass::marker, "marker", {}},
      {EventClass::region, "region", {0}},
      {EventClass::phase, "phase", {0}},
  };
  ASSERT_EQ(run.events.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const Event& event = run.events[i];
    EXPECT_EQ(std::make_tuple(event.type.event_class, event.type.name, event.words), wanted[i]) << i;
    EXPECT_GE(event.time, i == 0 ? 0 : run.events[i - 1].time);
  }
  EXPECT_EQ(run.events[2].type.unit, "bytes");
  ASSERT_EQ(run.processes.size(), 1U);
  EXPECT_EQ(run.processes.begin()->second.state, tare::format::ProcessState::exited);
}

TEST_F(Recorder, KeepsZeroToTenParameters) {
  constexpr std::uint64_t all[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  const ReadBack run = record([&] {
    const char* letters = "QQQQQQQQQQ";
    for (unsigned n = 0; n <= 10; ++n) {
      const tare_id regular = tare_define_event(("regular" + std::to_string(n)).c_str(), letters + 10 - n);
      const tare_id packed = tare_define_packed("packed");
      tare_record(regular, all, n);
      tare_record(packed, all, n);
    }
    const tare_id cut = tare_define_packed("cut");
    tare_record(cut, all, 11);
    const tare_id few = tare_define_packed("few");
    tare_record0(few);
    tare_record1(few, 1);
    tare_record2(few, 1, 2);
    tare_record3(few, 1, 2, 3);
    tare_record4(few, 1, 2, 3, 4);
  });
  for (unsigned n = 0; n <= 10; ++n) {
    const Words wanted(all, all + n);
    EXPECT_EQ(run.words("regular" + std::to_string(n)), std::vector<Words>{wanted});
    EXPECT_EQ(run.words("packed").at(n), wanted);
  }
  for (unsigned n = 0; n <= 4; ++n) EXPECT_EQ(run.words("few").at(n), Words(all, all + n));
  EXPECT_EQ(run.words("cut"), std::vector<Words>{Words(all, all + 10)});
}

template <class T>
std::vector<T> limits() {
  return {std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max(), T{0}, T{1}};
}

// Records the limits of a type, and says which words are to be read back.
template <class T>
Words record_limits(const char* name) {
  const tare::event<T> event{name};
  Words wanted;
  for (const T value : limits<T>()) {
    event(value);
    wanted.push_back(tare::detail::word(value));
  }
  return wanted;
}

template <class T>
void expect_limits(const ReadBack& run, const char* name) {
  const std::vector<Words> words = run.words(name);
  const std::vector<T> wanted = limits<T>();
  ASSERT_EQ(words.size(), wanted.size()) << name;
  for (std::size_t i = 0; i < words.size(); ++i) {
    T value;  // little-endian: the low bytes of the word
    std::memcpy(&value, &words[i].at(0), sizeof value);
    EXPECT_EQ(value, wanted[i]) << name;
    EXPECT_EQ(tare::detail::word(value), words[i].at(0)) << name << " is not extended to 8 bytes";
  }
}

TEST_F(Recorder, KeepsTheLimitsOfEveryType) {
  enum class Color : std::uint16_t { red = 7 };
  const ReadBack run = record([] {
    record_limits<std::int8_t>("i8");
    record_limits<std::uint8_t>("u8");
    record_limits<std::int16_t>("i16");
    record_limits<std::uint16_t>("u16");
    record_limits<std::int32_t>("i32");
    record_limits<std::uint32_t>("u32");
    record_limits<std::int64_t>("i64");
    record_limits<std::uint64_t>("u64");
    record_limits<float>("f32");
    record_limits<double>("f64");
    tare::event<double, float, Color, bool, char>{"mixed"}(std::nan(""), -INFINITY, Color::red, true, 'x');
    tare::packed{"packed"}(std::uint8_t{1}, UINT64_MAX, Color::red);
  });
  expect_limits<std::int8_t>(run, "i8");
  expect_limits<std::uint8_t>(run, "u8");
  expect_limits<std::int16_t>(run, "i16");
  expect_limits<std::uint16_t>(run, "u16");
  expect_limits<std::int32_t>(run, "i32");
  expect_limits<std::uint32_t>(run, "u32");
  expect_limits<std::int64_t>(run, "i64");
  expect_limits<std::uint64_t>(run, "u64");
  expect_limits<float>(run, "f32");
  expect_limits<double>(run, "f64");
  EXPECT_EQ(run.words("mixed").at(0),
            (Words{tare_word_of_double(std::nan("")), tare_word_of_float(-INFINITY), 7, 1, 'x'}));
  EXPECT_EQ(run.words("packed").at(0), (Words{1, UINT64_MAX, 7}));
}

static_assert(std::string_view(tare::detail::letters<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, int,
                                                     unsigned, long, unsigned long, float, double>) == "bBhHiIqQfd");
static_assert(!tare::detail::is_parameter<long double> && !tare::detail::is_parameter<const char*>);

TEST_F(Recorder, KeepsRawBytesAndCutsLongOnes) {
  std::string bytes(3000, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7);
  const std::vector<std::size_t> sizes = {0, 1, 7, 8, 9, 2047, 2048, 2049, 3000};
  const ReadBack run = record([&] {
    const tare::raw raw{"raw"};
    for (const std::size_t size : sizes) raw(bytes.data(), size);
    raw("text");
    raw({});
  });
  ASSERT_EQ(run.raws.size(), sizes.size() + 2);
  for (std::size_t i = 0; i < sizes.size(); ++i)
    EXPECT_EQ(run.raws[i].text, bytes.substr(0, std::min<std::size_t>(sizes[i], 2048))) << sizes[i];
  EXPECT_EQ(run.raws[sizes.size()].text, "text");
  EXPECT_EQ(run.raws.back().text, "");
}

TEST_F(Recorder, RawBytesFitTheSmallestBuffer) {
  const std::string bytes(2048, 'x');
  const ReadBack run = record(
      [&] {
        const tare::raw raw{"raw"};
        for (int i = 0; i < 1000; ++i) raw(bytes);
      },
      "1");
  EXPECT_EQ(run.raws.size(), 1000U);
  EXPECT_GE(run.flushes, 450U) << "a sub-buffer takes one, a buffer two";
}

TEST_F(Recorder, UnknownTypesHaveNoNumber) {
  const ReadBack run = record([] {
    EXPECT_EQ(tare_define_event("x", "iz"), 0U);
    EXPECT_EQ(tare_define_event("x", "i i"), 0U);
    EXPECT_EQ(tare_define_event("x", "iiiiiiiiiii"), 0U);
    EXPECT_EQ(tare_define_region(nullptr), 0U);
    tare_enter(0);
    tare_record4(0, 1, 2, 3, 4);
    tare_record_raw(0, "x", 1);
    EXPECT_NE(tare_define_event("no types", nullptr), 0U);
    tare_mark(tare_define_marker("end"));
    if (testing::Test::HasFailure()) std::exit(1);
  });
  EXPECT_EQ(run.events.size(), 1U);
  EXPECT_EQ(run.raws.size(), 0U);
}

TEST_F(Recorder, ANameHasOneNumber) {
  const ReadBack run = record([] {
    const tare_id region = tare_define_region("name");
    EXPECT_EQ(tare_define_region("name"), region);
    EXPECT_NE(tare_define_phase("name"), region);
    const tare_id integer = tare_define_event("name", "i");
    EXPECT_EQ(tare_define_event("name", "i"), integer);
    EXPECT_NE(tare_define_event("name", "d"), integer);
    if (testing::Test::HasFailure()) std::exit(1);
    tare_enter(region);
  });
  EXPECT_EQ(run.types.size(), 4U);
  EXPECT_EQ(run.definitions, 4U);
}

void in_threads(int count, const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(count));
  for (int t = 0; t < count; ++t) threads.emplace_back(body, t);
  for (std::thread& thread : threads) thread.join();
}

TEST_F(Recorder, ThreadsThatRegisterANameAgree) {
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

TEST_F(Recorder, ThreadsInSequenceUseOneBlockAgain) {
  const ReadBack run = record([] {
    for (int t = 0; t < 2000; ++t) std::thread(record_numbered, t, 5).join();
  });
  expect_all(run, 2000, 5);
  EXPECT_EQ(run.blocks.size(), 1U);
  EXPECT_EQ(run.processes.begin()->second.threads, 2000U);
}

// MPI_Abort may not come back, so the process writes its results in it; and mostly it goes on to its exit handlers.
TEST_F(Recorder, WhatIsRecordedAfterAnAbortIsKept) {
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

TEST_F(Recorder, NamesOfThreadsAreKept) {
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

TEST_F(Recorder, ManyNamesLeaveRoomForOtherDefinitions) {
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

TEST_F(Recorder, ManyThreadsAtOnceLoseNothing) {
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

TEST_F(Recorder, ThousandsOfThreadsComeAndGo) {
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

TEST_F(Recorder, TheCostOfAnEventIsKnown) {
  const ReadBack run = record([] { tare_mark(tare_define_marker("marker")); });
  EXPECT_EQ(run.events.size(), 1U) << "what was recorded for calibration is gone";
  EXPECT_GT(run.processes.begin()->second.event_cost_ps, 1'000U);
  EXPECT_LT(run.processes.begin()->second.event_cost_ps, 1'000'000U);
}

TEST_F(Recorder, ThreadsWithoutRoomAreCounted) {
  const ReadBack run = record([] {
    tare_mark(tare_define_marker("marker"));
    rlimit limit{};
    getrlimit(RLIMIT_FSIZE, &limit);
    const rlimit small{std::size_t{1} << 20, limit.rlim_max};  // the segment cannot grow
    setrlimit(RLIMIT_FSIZE, &small);
    in_threads(3, [](int t) { record_numbered(t, 5); });
    setrlimit(RLIMIT_FSIZE, &limit);
  });
  EXPECT_EQ(run.processes.begin()->second.unmeasured_threads, 3U);
  EXPECT_EQ(run.events.size(), 1U);
}

TEST_F(Recorder, NamesInMetaJsonAreEscaped) {
  const std::string odd = directory() + R"( "a\b")";
  const int code = run_program([&] {
    if (mkdir(odd.c_str(), 0777) != 0 || chdir(odd.c_str()) != 0) return 90;
    return tare_start("run");
  });
  ASSERT_EQ(code, 0);
  std::ifstream meta(odd + "/run/meta.json");
  const std::string text{std::istreambuf_iterator<char>(meta), {}};
  EXPECT_NE(text.find(R"( \"a\\b\"", "host": ")"), std::string::npos) << text;
}

TEST_F(Recorder, ThreadsThatDrainAtTheSameTimeLoseNothing) {
  const ReadBack run = record([] { in_threads(8, [](int t) { record_numbered(t, 20000); }); }, "4096");
  expect_all(run, 8, 20000);
  EXPECT_GT(run.flushes, 500U);
  for (const auto& [block, summary] : run.blocks) EXPECT_EQ(summary.dropped, 0U);
  const auto& process = run.processes.begin()->second;
  EXPECT_GT(process.clock_last.ticks, process.clock_start.ticks);
  EXPECT_GT(process.clock_last.monotonic_ns, process.clock_start.monotonic_ns);
}

TEST_F(Recorder, WhatAThreadRecordsWhileItEndsIsKept) {
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

TEST_F(Recorder, AProgramMayEndWhileThreadsRecord) {
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

TEST_F(Recorder, AForkedChildHasASegmentOfItsOwn) {
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

TEST_F(Recorder, AForkWhileThreadsRecordDoesNotHang) {
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

TEST_F(Recorder, WithoutARunNothingIsRecorded) {
  EXPECT_EQ(run_program([] {
              const tare::region region{"region"};
              const auto span = region.enter();
              tare::raw{"raw"}("text");
              return tare::recording() ? 1 : 0;
            }),
            0);
}

TEST_F(Recorder, ARunMayBeginAfterTheFirstEvents) {
  const int code = run_program([&] {
    const tare::marker marker{"marker"};
    marker();
    std::atomic<int> step{0};
    std::thread waiting([&] {
      marker();
      for (step = 1; step != 2;) std::this_thread::yield();
      marker();
    });
    while (step != 1) std::this_thread::yield();
    const bool started = tare::start(directory().c_str());
    step = 2;
    waiting.join();
    marker();
    return started && tare::recording() ? 0 : 1;
  });
  EXPECT_EQ(code, 0);
  EXPECT_EQ(read().count("marker"), 2U);
}

TEST_F(Recorder, ASecondStartChangesNothing) {
  const ReadBack run = record([&] {
    tare_mark(tare_define_marker("first"));
    if (tare_start((directory() + "2").c_str()) != 0) std::exit(1);
    tare_mark(tare_define_marker("second"));
  });
  EXPECT_EQ(run.events.size(), 2U);
  struct stat status {};
  EXPECT_NE(stat((directory() + "2").c_str(), &status), 0);
}

TEST_F(Recorder, ADirectoryThatCannotBeMadeIsAnError) {
  EXPECT_EQ(run_program([&] {
              errno = 0;
              const std::string below = directory() + "/below";
              if (tare_start(below.c_str()) != -1 || errno != ENOENT) return 1;
              tare_mark(tare_define_marker("marker"));
              if (tare_recording() != 0) return 2;
              return tare_start(directory().c_str()) == 0 && tare_recording() == 1 ? 0 : 3;  // another may be tried
            }),
            0);
}

TEST_F(Recorder, PhasesNest) {
  EXPECT_EQ(run_program([&] {
              if (tare_start(directory().c_str()) != 0) return 1;
              const tare::phase outer{"outer"};
              const tare::phase inner{"inner"};
              const auto pause = [] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); };
              const auto current = [] { return tare::recorder::here()->shared->summary.phase; };
              tare_begin_phase(outer.id());
              pause();
              const std::uint32_t first = current();
              tare_begin_phase(inner.id());
              const std::uint32_t second = current();
              tare_end_phase(outer.id());  // not the innermost: that goes on
              if (current() != second) return 2;
              tare_end_phase(inner.id());
              if (current() != tare::format::outside_phases) return 3;
              tare_end_phase(inner.id());  // has not begun
              if (current() != tare::format::outside_phases) return 4;
              const tare::format::PhaseEntry* phases = tare::recorder::here()->shared->phases;
              if (phases[first].type != outer.id() || phases[second].type != inner.id()) return 5;
              if (phases[first].entries != 1 || phases[second].entries != 1) return 6;
              return phases[first].ticks > phases[second].ticks && phases[second].ticks > 0 ? 0 : 7;
            }),
            0);
}

TEST_F(Recorder, PhasesWithoutRoomAreOne) {
  constexpr std::uint32_t more = tare::format::phase_capacity + 10;
  const ReadBack run = record([] {
    for (std::uint32_t i = 0; i < more; ++i) {
      const tare::phase phase{("phase " + std::to_string(i)).c_str()};
      const auto span = phase.begin();
    }
    const tare::phase first{"phase 0"};  // has its entry
    const auto span = first.begin();
    const tare::format::LocationHeader& shared = *tare::recorder::here()->shared;
    EXPECT_EQ(shared.phases[tare::format::outside_phases + 1].entries, 2U);
    EXPECT_EQ(shared.phases[0].entries, more - (tare::format::phase_capacity - 2));
    if (testing::Test::HasFailure()) std::_Exit(1);
  });
  ASSERT_EQ(run.blocks.size(), 1U);
  EXPECT_EQ(run.blocks.begin()->second.full, tare::format::full_phases);
  EXPECT_EQ(run.blocks.begin()->second.phases, tare::format::phase_capacity);
}

TEST_F(Recorder, PeersWithoutRoomAreOne) {
  const ReadBack run = record([] {
    tare::recorder::Location& location = *tare::recorder::here();
    constexpr std::uint32_t ranks = 3000;
    for (int round = 0; round < 2; ++round)
      for (std::uint32_t peer = 0; peer < ranks; ++peer) {
        location.count_sent(1, static_cast<std::int32_t>(peer), 8);
        location.count_received(1, static_cast<std::int32_t>(peer), 3);
      }
    location.count_sent(1, tare::format::proc_null, 8);
    location.count_received(1, 5, tare::format::no_bytes);  // a call that failed
    location.count_received(2, 5, 1);
    const tare::format::PeerEntry* peers = location.shared->peers;
    const std::uint64_t told_apart = tare::format::peer_capacity - 1;
    EXPECT_EQ(peers[0].sent_messages, 2 * (ranks - told_apart));
    EXPECT_EQ(peers[0].received_messages, 2 * (ranks - told_apart) + 1);
    for (std::uint32_t i = 1; i <= told_apart; ++i) {
      EXPECT_EQ(peers[i].communicator, 1U);
      EXPECT_EQ(peers[i].peer, static_cast<std::int32_t>(i - 1));
      EXPECT_EQ(peers[i].sent_messages, 2U);
      EXPECT_EQ(peers[i].sent_bytes, 16U);
      EXPECT_EQ(peers[i].received_bytes, 6U);
    }
    if (testing::Test::HasFailure()) std::_Exit(1);
  });
  ASSERT_EQ(run.blocks.size(), 1U);
  EXPECT_EQ(run.blocks.begin()->second.full, tare::format::full_peers);
}

TEST_F(Recorder, AFullDiskIsCounted) {
  constexpr std::uint64_t recorded = 200'000;
  const ReadBack run = record([] {
    const tare::packed event{"event"};
    event(0U);  // the segment exists
    rlimit limit{};
    getrlimit(RLIMIT_FSIZE, &limit);
    const rlimit small{std::size_t{1} << 20, limit.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    std::uint64_t random = 1;
    for (std::uint64_t i = 1; i < recorded; ++i) {
      random = random * 6364136223846793005U + 1442695040888963407U;
      event(random, random * random);
    }
    setrlimit(RLIMIT_FSIZE, &limit);
  });
  ASSERT_EQ(run.blocks.size(), 1U);
  const tare::format::LocationSummary& summary = run.blocks.begin()->second;
  const std::uint64_t missing = recorded - run.count("event");
  EXPECT_GT(missing, recorded / 4);
  EXPECT_LT(missing, recorded - 10'000);
  // Besides events, records of flushes and losses were lost.
  EXPECT_GE(summary.dropped, missing);
  EXPECT_LE(summary.dropped, missing + 2 * summary.flushes);
  EXPECT_GE(run.losses, 1U);
}

}  // namespace
}  // namespace tare::recorder
