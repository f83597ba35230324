#include "recorder/room.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <string>

#include "recorder/system.h"

namespace tare::recorder {
namespace {

class RoomTest : public ::testing::Test {
 protected:
  RoomTest() {
    char name[] = "/tmp/tare-room-XXXXXX";
    directory_ = ::mkdtemp(name);
  }
  ~RoomTest() override { EXPECT_EQ(std::system(("rm -r " + directory_).c_str()), 0); }
  std::string new_file(const std::string& name) const {
    std::string path = directory_ + "/" + name;
    EXPECT_TRUE(create_file(path.c_str()));
    return path;
  }
  static struct stat status_of(const std::string& path) {
    struct stat status {};
    EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
    return status;
  }
  bool claim(const std::string& path, std::uint64_t bytes) const {
    return claim_room(directory_.c_str(), path.c_str(), bytes);
  }

  std::string directory_;
};

TEST_F(RoomTest, ClaimsOfAllProcessesTogetherAreAtMostAnEighth) {
  const std::uint64_t free = space_of(directory_.c_str()).free;
  const std::string first = new_file("tare-first");
  const std::string second = new_file("tare-second");
  EXPECT_TRUE(claim(first, free / 10));
  EXPECT_FALSE(claim(second, free / 10)) << "the first one has claimed most, and taken nothing yet";
  EXPECT_EQ(status_of(second).st_size, 0) << "nothing stays claimed";
  EXPECT_EQ(status_of(first).st_blocks, 0);
  EXPECT_TRUE(claim(second, free / 100));
  EXPECT_FALSE(claim(new_file("tare-third"), free / 4));
}

TEST_F(RoomTest, WhatOthersTakeIsNotCounted) {
  const std::uint64_t free = space_of(directory_.c_str()).free;
  ASSERT_TRUE(resize_file(new_file("vader_segment").c_str(), free / 2));
  EXPECT_TRUE(claim(new_file("tare-first"), free / 10));
}

TEST_F(RoomTest, OtherUsersClaimNothing) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs to give a file away";
  const std::uint64_t free = space_of(directory_.c_str()).free;
  const std::string foreign = new_file("tare-foreign");
  ASSERT_TRUE(resize_file(foreign.c_str(), free / 2));
  ASSERT_EQ(::chown(foreign.c_str(), 65534, 65534), 0);
  EXPECT_TRUE(claim(new_file("tare-first"), free / 10));
}

TEST_F(RoomTest, HalfStaysFreeOfWhatThereIs) {
  const Space space = space_of(directory_.c_str());
  EXPECT_FALSE(leaves_half(directory_.c_str(), space.bytes / 2 + 1));
  EXPECT_FALSE(leaves_half(directory_.c_str(), UINT64_MAX));
  EXPECT_EQ(leaves_half(directory_.c_str(), 0), space.free >= space.bytes / 2);
  EXPECT_TRUE(suits_all(directory_.c_str(), space.bytes / 16));
  EXPECT_FALSE(suits_all(directory_.c_str(), space.bytes / 16 + 1));
  EXPECT_FALSE(suits_all("/no/such/directory", 4096));
}

TEST_F(RoomTest, AHoleTakesNoSpace) {
  constexpr std::size_t page = 4096;
  const std::string path = new_file("tare-hole");
  auto* memory = static_cast<char*>(map_file(path.c_str(), 2 * page, 64 * page, {page, 60 * page}));
  ASSERT_NE(memory, nullptr);
  memory[0] = 'a';
  memory[64 * page - 1] = 'z';
  EXPECT_EQ(memory[32 * page], '\0');
  EXPECT_EQ(status_of(path).st_size, 66 * page);
  EXPECT_LE(status_of(path).st_blocks * 512, 16 * page);
  unmap_memory(memory, 64 * page);
}

}  // namespace
}  // namespace tare::recorder
