// Sums of messages that are alike.
#include <gtest/gtest.h>

#include "mpi/sampling/classes.h"
#include "mpi/sampling/testing/two_ranks.h"

namespace tare::mpi::sampling {
namespace {

using testing::Table;

TEST(Classes, SplitTheLatency) {
  Table table(8);
  Classes classes;
  classes.use(&table.summary, table.rows.data());
  // Receiver first: it waited from 50 for a message sent at 100.
  classes.add({0, 1, 2, 64, 100, 40, 50, 130, 1, false, 0}, true);
  // Sender first: posted at 220, waited for at 240.
  classes.add({0, 1, 2, 64, 200, 220, 240, 250, 1, false, 0}, true);
  ASSERT_EQ(table.summary.classes, 2U);
  const format::SampleClass& c = table.rows[1];
  EXPECT_EQ(c.count, 2U);
  EXPECT_EQ(c.unexpected, 1U);
  EXPECT_EQ(c.latency, 30U + 50);
  EXPECT_EQ(c.latency_min, 30U);
  EXPECT_EQ(c.latency_max, 50U);
  EXPECT_EQ(c.late_sender, 50U);
  EXPECT_EQ(c.unposted, 20U);
  EXPECT_EQ(c.unwaited, 20U);
  EXPECT_EQ(c.transfer, 30U + 10);
  EXPECT_EQ(c.unposted + c.unwaited + c.transfer, c.latency);
  EXPECT_EQ(c.histogram[0], 1U);  // 30 has five bits
  EXPECT_EQ(c.histogram[1], 1U);  // 50 has six
}

TEST(Classes, TellThatAProbabilityIsNotKnown) {
  Table table(8);
  Classes classes;
  classes.use(&table.summary, table.rows.data());
  classes.add({0, 1, 2, 64, 100, 40, 50, 130, 10, false, 0}, false);
  EXPECT_EQ(table.rows[1].flags & format::weight_unknown, 0U);
  classes.add({0, 1, 2, 64, 100, 40, 50, 130, 0, false, 0}, false);  // chosen by a counter
  EXPECT_NE(table.rows[2].flags & format::weight_unknown, 0U);
  EXPECT_EQ(table.rows[1].flags & format::weight_unknown, 0U) << "samples of one weight are a class";
  EXPECT_EQ(table.rows[1].weight, 10);
}

TEST(Classes, AFullTableCountsWhatItDoesNotTellApart) {
  Table table(4);
  Classes classes;
  classes.use(&table.summary, table.rows.data());
  for (std::uint64_t bytes = 0; bytes < 10; ++bytes)
    for (std::uint64_t n = 0; n <= bytes; ++n) classes.add({0, 1, 2, bytes, 100, 40, 50, 130, 1, false, 0}, false);
  EXPECT_EQ(table.summary.classes, 4U);
  std::uint64_t told_apart = 0;
  for (unsigned i = 1; i < 4; ++i) told_apart += table.rows[i].count;
  EXPECT_EQ(told_apart, 1U + 2 + 3);
  EXPECT_EQ(table.rows[0].count, 55U - 6);
}

}  // namespace
}  // namespace tare::mpi::sampling
