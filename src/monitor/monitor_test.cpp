// A process that is monitored: what its snapshots hold.
#include "monitor/monitor.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "format/offload_ring.h"
#include "monitor/cadence.h"
#include "recorder/commit.h"
#include "recorder/here.h"
#include "recorder/node_words.h"
#include "recorder/segment.h"
#include "recorder/testing/recorded_run.h"

namespace tare::monitor {
namespace {

using format::Sums;

struct Section {
  format::SectionHead head{};
  std::vector<Sums> rows, phases, spans;
};
struct Snapshot {
  format::SnapshotHead head{};
  std::vector<Section> sections;
};

// Takes the oldest snapshot of this process; false if there is none.
bool take(Snapshot& snapshot) {
  format::OffloadRing& ring = *recorder::offload_ring();
  const char* entries = reinterpret_cast<const char*>(&ring + 1);
  for (;;) {
    const std::uint64_t tail = ring.tail;
    if (tail == ring.head) return false;
    const char* at = entries + tail % ring.bytes;
    format::EntryHead entry;
    std::memcpy(&entry, at, sizeof entry);
    ring.tail = tail + entry.bytes;
    if (entry.kind == format::EntryKind::filler) continue;
    ++ring.taken;
    std::memcpy(&snapshot.head, at, sizeof snapshot.head);
    at += sizeof snapshot.head;
    snapshot.sections.clear();
    for (std::uint32_t i = 0; i < snapshot.head.sections; ++i) {
      Section section;
      std::memcpy(&section.head, at, sizeof section.head);
      at += sizeof section.head;
      const auto read = [&at](std::vector<Sums>& to, std::uint32_t count) {
        to.resize(count);
        if (count != 0) std::memcpy(to.data(), at, count * sizeof(Sums));
        at += count * sizeof(Sums);
      };
      read(section.rows, section.head.rows);
      read(section.phases, section.head.phases);
      read(section.spans, section.head.spans);
      snapshot.sections.push_back(section);
    }
    return true;
  }
}

// In the program: ends it with a code of its own.
void expect(bool condition, int code) {
  if (!condition) std::exit(code);
}

class MonitorTest : public recorder::RecordedRun {
 protected:
  void run(const char* spec, const std::function<void()>& program) {
    record(program, "65536", {{"TARE_MONITOR", spec}, {"TARE_TRACE", "0"}});
  }
};

void commit(std::uint16_t function, std::uint64_t ticks, std::uint64_t bytes) {
  recorder::Call call;
  call.function = function;
  call.site = 1;
  call.enter = recorder::now();
  call.leave = call.enter + ticks;
  call.bytes = bytes;
  recorder::commit(*recorder::here(), call);
}

TEST_F(MonitorTest, ASnapshotIsTheProfileSoFar) {
  run("policy=nonblock,depth=0", [] {
    commit(7, 100, 10);
    commit(7, 50, 12);
    tare_offload();
    commit(7, 5, 8);
    tare_offload();
    Snapshot first;
    Snapshot second;
    expect(take(first) && take(second), 91);
    expect(first.head.round == 1 && second.head.round == 2, 92);
    expect(first.sections.size() == 1 && first.sections[0].rows.size() == 2, 93);
    const Sums& a = first.sections[0].rows[1];
    expect(a.calls == 2 && a.ticks == 150 && a.bytes == 22, 94);
    const Sums& b = second.sections[0].rows[1];
    expect(b.calls == 3 && b.ticks == 155 && b.bytes == 30, 95);
    expect(!take(first), 96);
  });
}

TEST_F(MonitorTest, RegionsAndCountersAreInIt) {
  run("policy=nonblock,depth=0", [] {
    const tare_id region = tare_define_region("step");
    const tare_id counter = tare_define_counter("residual", "");
    const tare_id phase = tare_define_phase("solve");
    tare_begin_phase(phase);
    tare_enter(region);
    tare_enter(region);
    tare_leave(region);
    tare_count(counter, 0.5);
    tare_count(counter, 0.25);
    tare_offload();
    tare_leave(region);
    tare_end_phase(phase);
    tare_offload();
    tare_offload();
    Snapshot open;
    Snapshot closed;
    Snapshot later;
    expect(take(open) && take(closed) && take(later), 91);
    const Section& section = open.sections[0];
    expect(section.spans.size() > region && section.spans.size() > counter, 92);
    expect(section.spans[region].calls == 2 && section.spans[region].ticks > 0, 93);
    double value = 0;
    std::memcpy(&value, &section.spans[counter].bytes, sizeof value);
    expect(section.spans[counter].calls == 2 && value == 0.25, 94);
    expect(closed.sections[0].spans[region].ticks >= section.spans[region].ticks, 95);
    expect(later.sections[0].spans[region].ticks == closed.sections[0].spans[region].ticks, 96);
    const auto& phases = recorder::here()->shared().phases;
    expect(section.phases.size() == 3 && phases[2].type == phase, 97);
    expect(section.phases[2].calls == 1 && section.phases[2].ticks > 0, 98);
  });
}

TEST_F(MonitorTest, EntriesOfARegionArePoints) {
  run("policy=nonblock,depth=0,region=3:step", [] {
    const tare_id region = tare_define_region("step");
    const tare_id other = tare_define_region("other");
    for (int i = 0; i < 10; ++i) {
      tare_enter(other);
      tare_enter(region);
      tare_enter(region);
      tare_leave(region);
      tare_leave(region);
      tare_leave(other);
    }
    Snapshot snapshot;
    for (std::uint64_t round = 1; round <= 3; ++round) {
      expect(take(snapshot) && snapshot.head.round == round, 91);
      // A round has three iterations. The last one has begun, but has not entered the inner region.
      expect(snapshot.sections[0].spans[region].calls == round * 6 - 1, 92);
    }
    expect(!take(snapshot), 93);
  });
}

TEST_F(MonitorTest, EachKthPointIsTakenAndTheWordChangesThat) {
  run("policy=nonblock,depth=0,every=2", [] {
    tare_offload();
    recorder::node_words->cadence = Cadence::word(5, 3);
    for (int i = 0; i < 11; ++i) tare_offload();
    Snapshot snapshot;
    for (const std::uint64_t round : {2, 4, 5, 8, 11}) expect(take(snapshot) && snapshot.head.round == round, 91);
    expect(!take(snapshot), 92);
    expect(recorder::offload_ring()->account.points == 12, 93);
    expect(recorder::offload_ring()->account.offloads == 5, 94);
  });
}

TEST_F(MonitorTest, WhatFindsNoRoomIsCountedAndCostsNoMore) {
  run("policy=lossy,depth=2", [] {
    for (int i = 0; i < 10; ++i) tare_offload();
    Snapshot snapshot;
    expect(take(snapshot) && take(snapshot) && !take(snapshot), 91);
    const auto& account = recorder::offload_ring()->account;
    expect(account.points == 10 && account.offloads == 2 && account.lost == 8 && account.waited == 0, 92);
    expect(account.ticks > 0 && account.ticks_max <= account.ticks, 93);
    tare_offload();
    expect(take(snapshot) && snapshot.head.round == 11 && snapshot.head.lost == 8, 94);
  });
}

// The clock makes points: of the calls of a second thread too, though the first makes none any more.
TEST_F(MonitorTest, TheClockMakesPoints) {
  constexpr std::uint64_t interval_ns = 2'000'000;
  run("policy=nonblock,depth=0,interval=2000000,epoch=1000", [] {
    commit(7, 0, 1);
    std::vector<std::uint64_t> rounds;
    std::thread caller([&rounds] {
      Snapshot snapshot;
      while (rounds.size() < 5) {
        commit(7, 0, 1);
        while (take(snapshot)) rounds.push_back(snapshot.head.round);
      }
      expect(snapshot.sections.size() == 2, 91);
    });
    caller.join();
    const std::uint64_t now_round = (recorder::read_ns(CLOCK_REALTIME) - 1000) / interval_ns;
    for (std::size_t i = 1; i < rounds.size(); ++i) expect(rounds[i] > rounds[i - 1], 92);
    // A rank that runs reaches each round soon after it begins, or, if the machine is busy, later ones.
    expect(rounds.back() <= now_round && rounds.front() + 1'000'000 > now_round, 93);
  });
}

TEST_F(MonitorTest, ThreadsComeAndGoMeanwhile) {
  run("policy=nonblock,depth=0,ring=1048576", [] {
    std::atomic<bool> done{false};
    commit(7, 1, 1);
    tare_offload();
    std::thread worker([&done] {
      while (!done) {
        std::thread short_lived([] { commit(8, 1, 1); });
        short_lived.join();
        commit(7, 1, 1);
      }
    });
    std::uint64_t before = 0;
    Snapshot snapshot;
    for (int i = 0; i < 2000; ++i) {
      tare_offload();
      while (take(snapshot)) {
        std::uint64_t calls = 0;
        for (const Section& section : snapshot.sections)
          for (const Sums& row : section.rows) calls += row.calls;
        expect(calls >= before, 91);
        before = calls;
      }
    }
    done = true;
    worker.join();
  });
}

TEST_F(MonitorTest, AForkedChildBeginsAnew) {
  run("policy=nonblock,depth=0", [] {
    commit(7, 1, 1);
    tare_offload();
    const pid_t child = fork();
    if (child == 0) {
      commit(9, 1, 1);
      tare_offload();
      Snapshot snapshot;
      const bool right = take(snapshot) && snapshot.head.round == 1 && snapshot.sections.size() == 1 &&
                         snapshot.sections[0].rows.size() == 2 && !take(snapshot);
      std::exit(right ? 0 : 1);  // so that it removes its segment
    }
    int status = 0;
    waitpid(child, &status, 0);
    expect(status == 0, 91);
  });
}

TEST_F(MonitorTest, AWrongSpecIsToldAndTheRunIsNotMonitored) {
  run("policy=perhaps", [] {
    tare_offload();
    commit(7, 1, 1);
    expect(recorder::offload_ring() == nullptr, 91);
  });
}

}  // namespace
}  // namespace tare::monitor
