// The API as programs use it. Each program is a forked child of the test; what it recorded is read back from the
// file that it leaves.
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <vector>

#include "format/machine.h"
#include "recorder/here.h"
#include "recorder/identity.h"
#include "recorder/process_end.h"
#include "recorder/segment.h"
#include "recorder/testing/recorded_run.h"
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

TEST_F(Recorder, ALongNameEndsWithAWholeCharacter) {
  const std::string letters(93, 'n'),
      cut = letters +
            "\xc3\xa9"
            "e",
      whole = letters.substr(1) +
              "\xc3\xa9"
              "e";
  const ReadBack run = record([&] {
    for (const std::string& name : {letters + "n\xc3\xa9", cut, whole, whole}) {
      const tare_id number = tare_define_event(name.c_str(), "i");
      EXPECT_EQ(number, tare_define_event(name.c_str(), "i"));
      const std::uint64_t word = 1;
      tare_record(number, &word, 1);
    }
    if (testing::Test::HasFailure()) std::exit(1);
  });
  EXPECT_EQ(run.count(letters + "n"), 1U);
  EXPECT_EQ(run.count(letters + "\xc3\xa9"), 1U);
  EXPECT_EQ(run.count(whole), 2U);
}

TEST_F(Recorder, NothingIsRecordedInAPause) {
  const ReadBack run = record([] {
    const tare::marker marker{"marker"};
    const tare::raw raw{"raw"};
    marker();
    tare::pause();
    tare::pause();  // does not nest
    EXPECT_FALSE(tare::recording());
    for (int i = 0; i < 100'000; ++i) marker();  // more than the buffer holds
    raw("text");
    tare_record(tare_define_event("named in a pause", "i"), nullptr, 0);
    tare::flush();
    marker();
    EXPECT_FALSE(tare::recording());
    std::thread([&] { marker(); }).join();  // another thread is not paused
    tare::resume();
    tare::resume();
    EXPECT_TRUE(tare::recording());
    raw("more");
    if (testing::Test::HasFailure()) std::exit(1);
  });
  EXPECT_EQ(run.events.size(), 2U);
  EXPECT_EQ(run.flushes, 2U) << "of both threads' markers";
  ASSERT_EQ(run.raws.size(), 1U);
  EXPECT_EQ(run.raws[0].text, "more");
}

TEST_F(Recorder, AThreadThatEndsInAPauseLeavesNoneToTheNext) {
  const ReadBack run = record([] {
    const tare::marker marker{"marker"};
    for (int i = 0; i < 3; ++i)
      std::thread([&] {
        marker();
        tare::pause();
        marker();
      }).join();
  });
  EXPECT_EQ(run.events.size(), 3U);
}

TEST_F(Recorder, AFlushWritesWhatIsThere) {
  const ReadBack run = record([] {
    const tare::marker marker{"marker"};
    for (int i = 0; i < 3; ++i) {
      marker();
      tare::flush();
    }
  });
  EXPECT_EQ(run.events.size(), 3U);
  EXPECT_EQ(run.flushes, 3U);
}

TEST_F(Recorder, NoTwoProcessesHaveOneName) {
  std::set<std::uint64_t> names;
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(names.insert(new_process_name()).second);
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(run_program([&] {
                const std::uint64_t name = new_process_name();
                return ::write(pipe_ends[1], &name, sizeof name) == sizeof name ? 0 : 1;
              }),
              0);
    std::uint64_t name = 0;
    ASSERT_EQ(::read(pipe_ends[0], &name, sizeof name), static_cast<ssize_t>(sizeof name));
    EXPECT_TRUE(names.insert(name).second);
  }
  close(pipe_ends[0]);
  close(pipe_ends[1]);
}

TEST_F(Recorder, AProcessTellsItsMachine) {
  const ReadBack run = record([] { const tare::region region{"region"}; });
  ASSERT_EQ(run.processes.size(), 1U);
  EXPECT_EQ(run.processes.begin()->second.machine, static_cast<std::uint32_t>(format::machine_name()));
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

TEST_F(Recorder, TheCostOfAnEventIsKnown) {
  const ReadBack run = record([] { tare_mark(tare_define_marker("marker")); });
  EXPECT_EQ(run.events.size(), 1U) << "what was recorded for calibration is gone";
  EXPECT_GT(run.processes.begin()->second.event_cost_ps, 1'000U);
  EXPECT_LT(run.processes.begin()->second.event_cost_ps, 1'000'000U);
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

// Programs may pass more than the eight bits that the system keeps.
TEST_F(Recorder, TheExitCodeIsWhatTheSystemSays) {
  EXPECT_EQ(run_program([&] {
              if (tare_start(directory().c_str()) != 0 || tare::recorder::here() == nullptr) return 1;
              return 0x12303;
            }),
            3);
  ASSERT_EQ(read().processes.size(), 1U);
  EXPECT_EQ(read().processes.begin()->second.exit_code, 3);
}

TEST_F(Recorder, SoItIsOfAProgramThatCallsTheSystemsExit) {
  EXPECT_EQ(run_program([&] {
              if (tare_start(directory().c_str()) != 0 || tare::recorder::here() == nullptr) return 1;
              tare::recorder::note_exit(0x12303);
              return tare::recorder::segment()->process.exit_code == 3 ? 0 : 2;
            }),
            0);
}

TEST_F(Recorder, PhasesNest) {
  EXPECT_EQ(run_program([&] {
              if (tare_start(directory().c_str()) != 0) return 1;
              const tare::phase outer{"outer"};
              const tare::phase inner{"inner"};
              const auto pause = [] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); };
              const auto current = [] { return tare::recorder::here()->shared().summary.phase; };
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
              const tare::format::PhaseEntry* phases = tare::recorder::here()->shared().phases;
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
    const tare::format::LocationHeader& shared = tare::recorder::here()->shared();
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
        location.peers().count_sent(1, static_cast<std::int32_t>(peer), 8);
        location.peers().count_received(1, static_cast<std::int32_t>(peer), 3);
      }
    location.peers().count_sent(1, tare::format::proc_null, 8);
    location.peers().count_received(1, 5, tare::format::no_bytes);  // a call that failed
    location.peers().count_received(2, 5, 1);
    const tare::format::PeerEntry* peers = location.shared().peers;
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

// What is on disk by then stays, and behind a gap, which is counted, come the newest events, as the buffer holds them.
TEST_F(Recorder, OnAFullDiskTheNewestAreKept) {
  constexpr std::uint64_t recorded = 200'000;
  const ReadBack run = record([] {
    const tare::packed event{"event"};
    event(0U, 0U, 0U);  // the segment exists
    rlimit limit{};
    getrlimit(RLIMIT_FSIZE, &limit);
    const rlimit small{std::size_t{1} << 20, limit.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    std::uint64_t random = 1;
    for (std::uint64_t i = 1; i < recorded; ++i) {
      random = random * 6364136223846793005U + 1442695040888963407U;
      event(i, random, random * random);
    }
    setrlimit(RLIMIT_FSIZE, &limit);
  });
  ASSERT_EQ(run.blocks.size(), 1U);
  const tare::format::LocationSummary& summary = run.blocks.begin()->second;
  EXPECT_EQ(summary.full, tare::format::kept_newest | tare::format::no_space);
  const auto events = run.words("event");
  const std::uint64_t missing = recorded - events.size();
  EXPECT_GT(missing, recorded / 4);
  EXPECT_LT(missing, recorded - 10'000);
  EXPECT_GE(summary.dropped, missing);
  EXPECT_LE(summary.dropped, missing + summary.flushes) << "records of flushes, besides";
  std::uint64_t gaps = 0;
  for (std::size_t i = 1; i < events.size(); ++i)
    if (events[i].at(0) != events[i - 1].at(0) + 1) {
      ++gaps;
      EXPECT_EQ(events[i].at(0) - events[i - 1].at(0), missing + 1);
    }
  EXPECT_EQ(gaps, 1U);
  EXPECT_EQ(events.front().at(0), 0U);
  EXPECT_EQ(events.back().at(0), recorded - 1);
}

}  // namespace
}  // namespace tare::recorder
