// A segment that somebody else writes to while tared reads it.
#include "tared/drain/segment.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>

#include "format/functions.h"
#include "recorder/clock.h"
#include "recorder/node_file.h"

namespace tare::tared {
namespace {

using namespace format;

constexpr std::uint32_t ring_bytes = 4096;
constexpr std::uint32_t wild_bytes = 1U << 20U;

class HostileSegment : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/tare-hostile-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    directory_ = name;
    recorder::choose_clock();
    recorder::set_node_file(name, "node");
    write();
  }
  void TearDown() override {
    ::munmap(memory_, bytes_);
    std::filesystem::remove_all(directory_);
  }
  std::string path() const { return directory_ + "/segment"; }
  SegmentHeader& header() { return *static_cast<SegmentHeader*>(memory_); }
  LocationHeader& location() {
    return *reinterpret_cast<LocationHeader*>(static_cast<char*>(memory_) + header_.locations_at);
  }

  // One location, whose first sub-buffer is full of one record and claims to be as long as the ring once says it is.
  void write() {
    header_.magic = segment_magic;
    header_.layout = segment_layout;
    header_.functions = function_count;
    header_.definitions_at = segment_header_bytes;
    header_.definitions_capacity = 4096;
    header_.locations_at = 8192;
    header_.row_capacity = 16;
    header_.ring = {2, ring_bytes, Policy::block};
    header_.location_stride = (buffer_at(16) + 2 * (wild_bytes + sizeof(SubBufferHead)) + 4095) / 4096 * 4096;
    header_.process.clock = recorder::clock_kind();
    header_.process.process = 7;
    header_.locations = 1;
    bytes_ = header_.locations_at + header_.location_stride;
    const int fd = ::open(path().c_str(), O_RDWR | O_CREAT, 0600);
    ASSERT_EQ(::ftruncate(fd, static_cast<off_t>(bytes_)), 0);
    memory_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    ::close(fd);
    ASSERT_NE(memory_, MAP_FAILED);
    std::memcpy(memory_, static_cast<const void*>(&header_), sizeof header_);
    refill(ring_bytes / 2);
  }
  void refill(std::uint64_t claimed_bytes) {
    auto* full = reinterpret_cast<SubBufferHead*>(buffer_of(&location(), 16));
    full->bytes = claimed_bytes;
    location().drained = 0;
    location().head = header_.ring.begin(1);
  }

  std::string directory_;
  SegmentHeader header_{};
  void* memory_ = nullptr;
  std::uint64_t bytes_ = 0;
};

TEST_F(HostileSegment, ASoundOneIsReady) { EXPECT_TRUE(Segment(path(), ::getpid()).is_ready()); }

// The copy of a sub-buffer was sized by one reading of the ring's bytes, and bounded by another.
TEST_F(HostileSegment, ItsLayoutIsReadOnce) {
  Segment segment(path(), ::getpid());
  ASSERT_TRUE(segment.is_ready());
  std::atomic<bool> done{false};
  std::thread changes([&] {
    while (!done) {
      header().ring.bytes = wild_bytes;
      header().row_capacity = UINT32_MAX;
      header().ring.bytes = ring_bytes;
      header().row_capacity = 16;
    }
  });
  for (int i = 0; i < 2000; ++i) {
    refill(wild_bytes);
    EXPECT_EQ(segment.drain(), Segment::Drained::failed) << "it claims to be longer than the ring";
  }
  done = true;
  changes.join();
}

TEST_F(HostileSegment, OneThatIsNoneIsNot) {
  const auto is_ready = [&] { return Segment(path(), ::getpid()).is_ready(); };
  for (const std::uint64_t wild : {std::uint64_t{0}, std::uint64_t{1}, bytes_ + 64, ~std::uint64_t{0}}) {
    header().locations_at = wild;
    EXPECT_FALSE(is_ready());
    header().locations_at = header_.locations_at;
    header().location_stride = wild;
    EXPECT_EQ(is_ready(), wild == bytes_ + 64) << "locations are added to the file, of whatever size they are";
    header().location_stride = header_.location_stride;
  }
  header().ring.count = UINT32_MAX;
  EXPECT_FALSE(is_ready());
  header().ring = header_.ring;
  header().process.tick_shift = 64;
  EXPECT_FALSE(is_ready());
  header().process.tick_shift = 0;
  EXPECT_TRUE(is_ready());
}

TEST_F(HostileSegment, LinksAndFilesOfOthersAreNot) {
  const std::string link = directory_ + "/link";
  const std::string pipe = directory_ + "/pipe";
  ASSERT_EQ(::symlink(path().c_str(), link.c_str()), 0);
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_FALSE(Segment(link, ::getpid()).is_ready());
  EXPECT_FALSE(Segment(pipe, ::getpid()).is_ready());
  if (::geteuid() != 0) return;  // only root can give files away
  constexpr uid_t somebody = 12345;
  ASSERT_EQ(::chown(path().c_str(), somebody, somebody), 0);
  EXPECT_FALSE(Segment(path(), ::getpid()).is_ready());
}

}  // namespace
}  // namespace tare::tared
