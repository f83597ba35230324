#include "tared/boi/spot_book.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace tare::tared {
namespace {

class SpotFile : public testing::Test {
 protected:
  SpotFile() : directory(mkdtemp(template_.data())) {}
  ~SpotFile() override { std::filesystem::remove_all(directory); }

 private:
  std::string template_ = testing::TempDir() + "spots-XXXXXX";

 protected:
  std::string directory;
};

TEST_F(SpotFile, GivesWhatIsKnownOfTreesOfThisSize) {
  std::ofstream(directory + "/spots-known") << "8 1 16 0 1000 10 2000 20 30\n"
                                               "8 2 16 0 5000 50 6000 60 -1\n"
                                               "no line\n"
                                               "8 1 64 0 -1 0 0 0 0\n"
                                               "8 1 32 1 3000 30 4000 40\n"
                                               "8 1 32 1 3000 30 4000 40 -1\n";
  const auto spots = read_known_spots(directory, {8, 1});
  ASSERT_EQ(spots.size(), 2U);
  EXPECT_EQ(spots[0].events, 16U);
  EXPECT_EQ(spots[0].boi_ns, 1000);
  EXPECT_EQ(spots[0].rest_deviation_ns, 20);
  EXPECT_EQ(spots[0].direct_ns, 30);
  EXPECT_EQ(spots[1].events, 32U);
  EXPECT_EQ(spots[1].is_bound, 1U);
  EXPECT_EQ(read_known_spots(directory, {8, 2}).size(), 1U);
  EXPECT_TRUE(read_known_spots(directory, {9, 1}).empty());
}

TEST_F(SpotFile, WithoutAFileNothingIsKnown) { EXPECT_TRUE(read_known_spots(directory + "/none", {8, 1}).empty()); }

TEST_F(SpotFile, KeepsWhatWasFound) {
  format::SweetSpot spot;
  spot.events = 17;
  spot.boi_ns = 2e6;
  spot.boi_spread_ns = 1e5;
  spot.rest_ns = 3e6;
  spot.rest_deviation_ns = 4e3;
  keep_found_spot(directory, {4, 2}, spot);
  spot.is_bound = 1;
  keep_found_spot(directory, {4, 2}, spot);
  std::ostringstream text;
  text << std::ifstream(directory + "/spots-found").rdbuf();
  EXPECT_EQ(text.str(), "4 2 17 0 2000000 100000 3000000 4000 -1\n4 2 17 1 2000000 100000 3000000 4000 -1\n");
  keep_found_spot(directory + "/none", {4, 2}, spot);  // there is no place for it
}

}  // namespace
}  // namespace tare::tared
