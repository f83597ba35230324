#include "reader/model/missing_ranks.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace tare::reader {
namespace {

Process rank(std::int32_t number, std::int32_t size, int world = 0) {
  Process process;
  process.world = world;
  process.record.rank = number;
  process.record.size = size;
  process.record.state = format::ProcessState::exited;
  return process;
}

Process on(const char* host, std::int32_t number, std::int32_t size, int world = 0) {
  Process process = rank(number, size, world);
  process.record.state = format::ProcessState::running;
  process.has_results = false;
  std::snprintf(process.record.host, sizeof process.record.host, "%s", host);
  return process;
}

template <class... Ps>
std::vector<Process> list(Ps... processes) {
  std::vector<Process> all;
  (all.push_back(std::move(processes)), ...);
  return all;
}

std::string missing(const std::vector<Process>& processes, const std::vector<Process>& others = {}) {
  std::string text;
  for (const MissingRanks& each : missing_ranks(processes, others))
    text += std::to_string(each.world) + ":" + std::to_string(each.first) + "-" + std::to_string(each.last) + "/" +
            std::to_string(each.size) + each.host + " ";
  return text;
}

TEST(MissingRanks, AreThoseThatNobodyIsInAWorldOfThatSize) {
  EXPECT_EQ(missing(list()), "");
  EXPECT_EQ(missing(list(rank(0, 2), rank(1, 2))), "");
  EXPECT_EQ(missing(list(rank(1, 6), rank(4, 6))), "0:0-0/6 0:2-3/6 0:5-5/6 ");
  EXPECT_EQ(missing(list(rank(0, 1), rank(1, 2, 1))), "1:0-0/2 ") << "each world has its own";
  EXPECT_EQ(missing(list(rank(-1, -1))), "") << "nobody knows how many there are";
  EXPECT_EQ(missing(list(rank(0, 2), rank(7, 2))), "0:1-1/2 ") << "a damaged one";
  EXPECT_EQ(missing(list(rank(0, INT32_MAX))), "0:1-2147483646/2147483647 ") << "one row for all";
}

TEST(MissingRanks, HaveTheHostWhereTheyRan) {
  EXPECT_EQ(missing(list(rank(0, 5)), list(on("a", 2, 5), on("a", 3, 5), on("b", 4, 5))), "0:1-1/5 0:2-3/5a 0:4-4/5b ");
  EXPECT_EQ(missing(list(), list(on("a", 0, 2), on("b", 1, 2))), "0:0-0/2a 0:1-1/2b ")
      << "of some worlds all are missing";
  EXPECT_EQ(missing(list(rank(0, 2), on("a", 1, 2))), "0:1-1/2a ") << "there may be events of it";
}

TEST(MissingRanks, HaveResultsElsewhereUnlessTheyAreHereOrThereAreNone) {
  Process process = on("a", 0, 1);
  EXPECT_TRUE(is_elsewhere(process));
  process.record.flags = format::found_ended;  // a collector has read its segment
  EXPECT_FALSE(is_elsewhere(process));
  process.record.flags = 0;
  for (const auto ended : {format::ProcessState::exited, format::ProcessState::aborted}) {
    process.record.state = ended;
    EXPECT_FALSE(is_elsewhere(process)) << "it has written them itself";
  }
  process.record.state = format::ProcessState::finalized;
  EXPECT_TRUE(is_elsewhere(process));
  process.profiles[0] = {};
  EXPECT_FALSE(is_elsewhere(process));
  EXPECT_FALSE(is_elsewhere(on("a", -1, -1)));
}

TEST(SavedRanks, AreThoseOfWhichThereIsMore) {
  std::vector<Process> all = list(rank(-1, -1), rank(0, 4), rank(1, 4), rank(2, 4), rank(3, 4));
  EXPECT_TRUE(saved_ranks(all).empty());
  for (const std::size_t saved : {0U, 1U, 2U, 4U}) {
    all[saved].record.flags = format::saved_living;
    std::snprintf(all[saved].record.host, sizeof all[saved].record.host, "a");
  }
  std::string text;
  for (const MissingRanks& each : saved_ranks(all))
    text += std::to_string(each.world) + ":" + std::to_string(each.first) + "-" + std::to_string(each.last) + "/" +
            std::to_string(each.size) + each.host + " ";
  EXPECT_EQ(text, "0:0-1/4a 0:3-3/4a ");
}

}  // namespace
}  // namespace tare::reader
