#include "tared/monitor/round_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

namespace tare::tared {
namespace {

class Rounds : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = std::filesystem::temp_directory_path() / "tare-rounds-test-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    directory_ = name + "/run";
  }
  void TearDown() override { std::filesystem::remove_all(std::filesystem::path(directory_).parent_path()); }
  void add(RoundFile& file, std::uint64_t number, std::size_t bytes) {
    const Bytes reduced(bytes);
    Round round;
    round.round = number;
    round.ranks = RankSet::of_range(0, 4);
    round.filter = "none";
    round.reduced = reduced;
    file.round(round);
  }
  std::uintmax_t stored() const {
    const std::filesystem::path path = directory_ + "/monitor-node7.tare";
    return std::filesystem::exists(path) ? std::filesystem::file_size(path) : 0;
  }
  std::string directory_;
};

TEST_F(Rounds, WaitUntilTheyCanBeWritten) {
  RoundFile file(directory_, "node7");  // whose directory is not there yet
  for (std::uint64_t round = 0; round < 8; ++round) add(file, round, std::size_t{256} << 10U);
  EXPECT_FALSE(file.write_all());
  EXPECT_EQ(stored(), 0U);
  std::filesystem::create_directory(directory_);
  EXPECT_TRUE(file.write_all()) << "and nothing was lost";
  EXPECT_GT(stored(), 0U);
}

TEST_F(Rounds, ThatAreLostAreToldOf) {
  RoundFile file(directory_, "node7");
  for (std::uint64_t round = 0; round <= RoundFile::max_bytes >> 20U; ++round) add(file, round, std::size_t{1} << 20U);
  std::filesystem::create_directory(directory_);
  add(file, 100, 8);
  EXPECT_FALSE(file.write_all());
  EXPECT_GT(stored(), 0U) << "the later ones are there";
}

}  // namespace
}  // namespace tare::tared
