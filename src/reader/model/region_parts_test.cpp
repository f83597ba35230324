#include "reader/model/region_parts.h"

#include <gtest/gtest.h>

#include "format/functions.h"

namespace tare::reader {
namespace {

using format::Function;

format::ProfileRow row_of(Function function, std::uint32_t region, std::uint32_t site, std::uint64_t calls,
                          std::uint64_t ticks) {
  format::ProfileRow row{};
  row.function = static_cast<std::uint16_t>(function);
  row.communicator = region;
  row.site = site;
  row.calls = calls;
  row.ticks = ticks;
  return row;
}

TEST(RegionParts, AreSumsOfTheRowsOfEachRegion) {
  const FunctionNames names;
  Profile profile;
  profile.rows = {row_of(Function::omp_parallel, 1, 5, 3, 300), row_of(Function::omp_implicit_task, 1, 5, 4, 200),
                  row_of(Function::omp_barrier, 1, 6, 2, 20),   row_of(Function::omp_critical, 1, 7, 2, 10),
                  row_of(Function::omp_task, 1, 8, 9, 15),      row_of(Function::omp_undeferred_task, 1, 8, 1, 1000),
                  row_of(Function::omp_for, 1, 9, 1, 1000),     row_of(Function::omp_implicit_task, 2, 11, 1, 50),
                  row_of(Function::omp_lock, 0, 12, 1, 1000),   row_of(Function::read, 1, 13, 1, 1000),
                  row_of(Function::MPI_Send, 1, 14, 1, 1000)};
  std::vector<RegionPart> parts;
  add_region_parts(parts, names.built_in(), region_roles(names), profile);
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].number, 1U);
  EXPECT_EQ(parts[0].site, 5U);
  EXPECT_EQ(parts[0].regions, 3U);
  EXPECT_EQ(parts[0].region_ticks, 300U);
  EXPECT_EQ(parts[0].parts, 4U);
  EXPECT_EQ(parts[0].part_ticks, 200U);
  EXPECT_EQ(parts[0].wait_ticks, 30U);
  EXPECT_EQ(parts[0].task_ticks, 15U);
  EXPECT_EQ(parts[1].number, 2U);
  EXPECT_EQ(parts[1].site, 11U);
  EXPECT_EQ(parts[1].part_ticks, 50U);
  // Another thread that used the location.
  add_region_parts(parts, names.built_in(), region_roles(names), profile);
  EXPECT_EQ(parts[0].part_ticks, 400U);
}

TEST(RegionParts, OfRegionsWithoutRoomAreOnlyCounted) {
  const FunctionNames names;
  Profile profile;
  profile.rows = {row_of(Function::omp_parallel, 0, 0, 3, 300), row_of(Function::omp_implicit_task, 0, 0, 4, 200),
                  row_of(Function::omp_taskwait, 0, 0, 5, 200), row_of(Function::omp_implicit_task, 0, 9, 2, 50)};
  std::vector<RegionPart> parts;
  add_region_parts(parts, names.built_in(), region_roles(names), profile);
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_EQ(parts[0].number, 0U);
  EXPECT_EQ(parts[0].regions, 3U);
  EXPECT_EQ(parts[0].region_ticks, 0U);
  EXPECT_EQ(parts[0].parts, 4U);
  EXPECT_EQ(parts[0].part_ticks, 0U);
}

}  // namespace
}  // namespace tare::reader
