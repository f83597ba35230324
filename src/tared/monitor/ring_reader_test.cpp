// A ring that somebody else writes to while tared reads it.
#include "tared/monitor/ring_reader.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

namespace tare::tared {
namespace {

using namespace format;

constexpr std::uint64_t ring_bytes = min_offload_bytes;
constexpr std::uint64_t page = 4096;

// Behind the ring lies a page that cannot be read.
class RingReaderTest : public ::testing::Test {
 protected:
  RingReaderTest() {
    constexpr std::uint64_t used = sizeof(OffloadRing) + ring_bytes;
    constexpr std::uint64_t whole = (used + page - 1) / page * page;
    memory_ =
        static_cast<char*>(::mmap(nullptr, whole + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mapped_ = whole + page;
    ::mprotect(memory_ + whole, page, PROT_NONE);
    ring_ = reinterpret_cast<OffloadRing*>(memory_ + whole - used);
  }
  ~RingReaderTest() override { ::munmap(memory_, mapped_); }
  char* entries() { return reinterpret_cast<char*>(ring_ + 1); }

  // A snapshot of one section of rows, whose numbers are `first`, `first` + 1, ...; at `position`.
  std::uint64_t put(std::uint64_t position, std::uint64_t round, std::uint32_t rows, std::uint64_t first) {
    const auto bytes = static_cast<std::uint32_t>(sizeof(SnapshotHead) + sizeof(SectionHead) + rows * sizeof(Sums));
    const SnapshotHead head{{bytes, EntryKind::snapshot}, round, 0, 0, 1, 0};
    const SectionHead section{0, rows, 0, 0};
    char* at = entries() + position % ring_bytes;
    std::memcpy(at, &head, sizeof head);
    std::memcpy(at + sizeof head, &section, sizeof section);
    for (std::uint32_t i = 0; i < rows; ++i) {
      const Sums sums{first + i, 2 * (first + i), 3 * (first + i)};
      std::memcpy(at + sizeof head + sizeof section + i * sizeof sums, &sums, sizeof sums);
    }
    ring_->head = position + bytes;
    return position + bytes;
  }

  OffloadRing* ring_;

 private:
  char* memory_;
  std::uint64_t mapped_;
};

TEST_F(RingReaderTest, ReadsWhatWasPut) {
  RingReader reader(*ring_, ring_bytes);
  EXPECT_FALSE(reader.take());
  std::uint64_t at = put(0, 1, 3, 100);
  put(at, 2, 5, 200);
  ASSERT_TRUE(reader.take());
  EXPECT_EQ(reader.head().round, 1U);
  ASSERT_TRUE(reader.take());
  EXPECT_EQ(reader.head().round, 2U);
  ASSERT_EQ(reader.sections().size(), 1U);
  ASSERT_EQ(reader.sections()[0].head.rows, 5U);
  EXPECT_EQ(reader.sections()[0].rows[4].bytes, 3U * 204);
  EXPECT_FALSE(reader.take());
  EXPECT_EQ(ring_->tail, ring_->head);
  EXPECT_EQ(ring_->taken, 2U);
}

TEST_F(RingReaderTest, AFillerLeadsToTheBegin) {
  RingReader reader(*ring_, ring_bytes);
  std::uint64_t at = 0;
  for (std::uint64_t round = 1; round < 500; ++round) {
    const std::uint64_t left = ring_bytes - at % ring_bytes;
    if (left < 40 + 16 + 24 * 30) {
      const EntryHead filler{static_cast<std::uint32_t>(left), EntryKind::filler};
      std::memcpy(entries() + at % ring_bytes, &filler, sizeof filler);
      at += left;
    }
    at = put(at, round, 30, round);
    ASSERT_TRUE(reader.take());
    EXPECT_EQ(reader.head().round, round);
    EXPECT_EQ(reader.sections()[0].rows[29].calls, round + 29);
  }
}

TEST_F(RingReaderTest, EntriesThatMakeNoSenseEndIt) {
  const std::uint64_t end = put(0, 1, 3, 1);
  const auto refuses = [&](auto&& change) {
    put(0, 1, 3, 1);
    ring_->tail = 0;
    change(*reinterpret_cast<SnapshotHead*>(entries()),
           *reinterpret_cast<SectionHead*>(entries() + sizeof(SnapshotHead)));
    RingReader reader(*ring_, ring_bytes);
    EXPECT_FALSE(reader.take());
    EXPECT_TRUE(reader.is_broken());
    EXPECT_FALSE(reader.take());
  };
  refuses([](SnapshotHead& head, SectionHead&) { head.entry.bytes = 0; });
  refuses([](SnapshotHead& head, SectionHead&) { head.entry.bytes = 12; });
  refuses([](SnapshotHead& head, SectionHead&) { head.entry.bytes = 16; });
  refuses([](SnapshotHead& head, SectionHead&) { head.entry.bytes += 8; });
  refuses([](SnapshotHead& head, SectionHead&) { head.entry.bytes = UINT32_MAX - 7; });
  refuses([](SnapshotHead& head, SectionHead&) { head.entry.kind = static_cast<EntryKind>(7); });
  refuses([](SnapshotHead& head, SectionHead&) { head.sections = 2; });
  refuses([](SnapshotHead& head, SectionHead&) { head.sections = UINT32_MAX; });
  refuses([](SnapshotHead&, SectionHead& section) { section.rows = 4; });
  refuses([](SnapshotHead&, SectionHead& section) { section.rows = section.phases = section.spans = UINT32_MAX; });
  refuses([&](SnapshotHead&, SectionHead&) { ring_->head = end + ring_bytes; });
  refuses([&](SnapshotHead&, SectionHead&) { ring_->head = UINT64_MAX; });
}

TEST_F(RingReaderTest, ItsLengthIsChecked) {
  constexpr std::uint64_t room = sizeof(OffloadRing) + ring_bytes;
  EXPECT_EQ(checked_ring_bytes(ring_bytes, room), ring_bytes);
  for (const std::uint64_t wild : {std::uint64_t{0}, std::uint64_t{1}, ring_bytes - 8, ring_bytes * 2, UINT64_MAX})
    EXPECT_EQ(checked_ring_bytes(wild, room), 0U);
  EXPECT_EQ(checked_ring_bytes(ring_bytes, sizeof(OffloadRing) - 1), 0U);
}

// Whatever is there, and however it changes while it is read: nothing outside the ring is touched (the page behind it
// cannot be), and every section that is given lies in the copy.
TEST_F(RingReaderTest, NoiseDoesNoHarm) {
  std::atomic<bool> done{false};
  std::thread changes([&] {
    std::mt19937_64 random(11);
    while (!done) {
      auto* words = reinterpret_cast<std::atomic<std::uint64_t>*>(entries());
      for (int i = 0; i < 64; ++i) words[random() % (ring_bytes / 8)] = random() % 4 == 0 ? random() : random() % 256;
      ring_->head = random() % 3 == 0 ? random() : ring_->tail + random() % (2 * ring_bytes) / 8 * 8;
    }
  });
  std::uint64_t sum = 0;
  std::mt19937_64 random(12);
  for (int i = 0; i < 20'000; ++i) {
    ring_->tail = random() % ring_bytes / 8 * 8;
    const std::uint64_t tail = ring_->tail;
    put(tail % ring_bytes < ring_bytes / 2 ? tail : 0, 1, static_cast<std::uint32_t>(random() % 32), 1);
    RingReader reader(*ring_, ring_bytes);
    for (int take = 0; take < 4 && reader.take(); ++take)
      for (const RingReader::Section& section : reader.sections()) {
        const std::uint64_t count = std::uint64_t{section.head.rows} + section.head.phases + section.head.spans;
        EXPECT_LE(count, ring_bytes / sizeof(Sums));
        for (std::uint64_t k = 0; k < count; ++k) sum += section.rows[k].calls;
      }
  }
  done = true;
  changes.join();
  EXPECT_NE(sum, 0U) << "some of it was read";
}

}  // namespace
}  // namespace tare::tared
