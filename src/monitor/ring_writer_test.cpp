#include "monitor/ring_writer.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <vector>

#include "recorder/clock.h"

namespace tare::monitor {
namespace {

using format::MonitorPolicy;

constexpr std::uint64_t ring_bytes = 16 * 1024;
constexpr std::uint64_t guard_bytes = 4096;
constexpr char untouched = 0x5a;

// A ring with memory behind it that nobody may write to.
class RingWriterTest : public ::testing::Test {
 protected:
  RingWriterTest() : memory_(sizeof(format::OffloadRing) + ring_bytes + guard_bytes) {
    recorder::choose_clock();
    std::memset(entries() + ring_bytes, untouched, guard_bytes);
  }
  ~RingWriterTest() override {
    for (std::uint64_t i = 0; i < guard_bytes; ++i) EXPECT_EQ(entries()[ring_bytes + i], untouched);
  }
  void begin(MonitorPolicy policy, std::uint64_t depth, std::uint64_t wait_ns = 1000) {
    format::MonitorSpec spec;
    spec.policy = policy;
    spec.depth = depth;
    spec.wait_ns = wait_ns;
    spec.ring_bytes = ring_bytes;
    ring().bytes = ring_bytes;
    writer_.begin(ring(), spec);
  }
  format::OffloadRing& ring() { return *reinterpret_cast<format::OffloadRing*>(memory_.data()); }
  char* entries() { return memory_.data() + sizeof(format::OffloadRing); }

  bool put(std::uint64_t bytes, char content) {
    char* entry = writer_.reserve(bytes);
    if (entry == nullptr) return false;
    EXPECT_GE(entry, entries());
    EXPECT_LE(entry + bytes, entries() + ring_bytes);
    std::memset(entry, content, bytes);
    const format::EntryHead head{static_cast<std::uint32_t>(bytes), format::EntryKind::snapshot};
    std::memcpy(entry, &head, sizeof head);
    writer_.publish();
    return true;
  }
  // The oldest snapshot; its size, 0 if there is none.
  std::uint64_t take(char& content) {
    for (;;) {
      const std::uint64_t tail = ring().tail;
      if (tail == ring().head) return 0;
      format::EntryHead head;
      std::memcpy(&head, entries() + tail % ring_bytes, sizeof head);
      ring().tail = tail + head.bytes;
      if (head.kind == format::EntryKind::filler) continue;
      content = entries()[tail % ring_bytes + head.bytes - 1];
      ++ring().taken;
      return head.bytes;
    }
  }

  RingWriter writer_;

 private:
  struct Aligned {
    explicit Aligned(std::size_t bytes) : memory(static_cast<char*>(std::aligned_alloc(64, (bytes + 63) / 64 * 64))) {
      std::memset(memory, 0, bytes);
    }
    ~Aligned() { std::free(memory); }
    Aligned(const Aligned&) = delete;
    Aligned& operator=(const Aligned&) = delete;
    char* data() { return memory; }
    char* memory;
  };
  Aligned memory_;
};

TEST_F(RingWriterTest, WhatIsTakenIsWhatWasPut) {
  begin(MonitorPolicy::nonblock, 0);
  std::minstd_rand random(3);
  std::deque<std::pair<std::uint64_t, char>> waiting;
  std::uint64_t refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t bytes = 64 + random() % 512 * 8;
    const char content = static_cast<char>(i);
    if (put(bytes, content))
      waiting.emplace_back(bytes, content);
    else
      ++refused;
    while (random() % 3 == 0 && !waiting.empty()) {
      char found = 0;
      EXPECT_EQ(take(found), waiting.front().first);
      EXPECT_EQ(found, waiting.front().second);
      waiting.pop_front();
    }
  }
  EXPECT_GT(refused, 0U);
}

TEST_F(RingWriterTest, OnlySoManyWait) {
  begin(MonitorPolicy::lossy, 2);
  EXPECT_TRUE(put(64, 'a'));
  EXPECT_TRUE(put(64, 'b'));
  EXPECT_FALSE(put(64, 'c'));
  char found = 0;
  take(found);
  EXPECT_TRUE(put(64, 'd'));
}

TEST_F(RingWriterTest, OneThatIsLargerThanTheRingNeverFits) {
  begin(MonitorPolicy::block, 0);
  EXPECT_FALSE(put(ring_bytes + 8, 'x'));
  EXPECT_EQ(ring().account.waited, 0U) << "waiting would not help";
  EXPECT_TRUE(put(ring_bytes, 'x'));
}

TEST_F(RingWriterTest, AReaderThatDoesNotComeIsWaitedForOnce) {
  begin(MonitorPolicy::block, 1, 2'000'000);
  EXPECT_TRUE(put(64, 'a'));
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(put(64, 'b'));
  EXPECT_EQ(ring().account.waited, 1U);
  EXPECT_GT(ring().account.waited_ticks, 0U);
  char found = 0;
  take(found);
  EXPECT_TRUE(put(64, 'c'));
  EXPECT_FALSE(put(64, 'd'));
  EXPECT_EQ(ring().account.waited, 2U) << "it has come, so it is waited for again";
}

// Whatever the reader writes to its words, the writer stays in the ring (~RingWriterTest).
TEST_F(RingWriterTest, AHostileReaderGainsNothing) {
  begin(MonitorPolicy::nonblock, 0);
  std::mt19937_64 random(7);
  for (int i = 0; i < 20'000; ++i) {
    ring().tail = i % 3 == 0 ? random() : ring().head + random() % 64 - 32;
    ring().taken = random();
    ring().bytes = random();
    put(64 + random() % 512 * 8, 'x');
  }
}

}  // namespace
}  // namespace tare::monitor
