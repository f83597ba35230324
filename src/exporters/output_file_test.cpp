#include "exporters/output_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "reader/testing/synthetic.h"

namespace tare::exporters {
namespace {

using reader::synthetic::TempDir;

TEST(OutputFile, IsThereWhenItIsWhole) {
  const TempDir dir;
  {
    OutputFile file(dir.path("out"));
    file.write(std::string(3'000'000, 'x'));
    EXPECT_FALSE(dir.has("out"));
    EXPECT_EQ(file.finish(), "");
  }
  EXPECT_EQ(dir.read("out"), std::string(3'000'000, 'x'));
  EXPECT_FALSE(dir.has(part_name("out")));
}

TEST(OutputFile, WithoutItsEndNothingIsLeft) {
  const TempDir dir;
  { OutputFile(dir.path("out")).write("half"); }
  EXPECT_FALSE(dir.has("out"));
  EXPECT_FALSE(dir.has(part_name("out")));
}

TEST(OutputFile, NeitherFollowsALinkNorRemovesIt) {
  const TempDir dir;
  dir.write("other", "kept");
  dir.write("out.part", "kept as well");
  ASSERT_EQ(::symlink(dir.path("other").c_str(), dir.path(part_name("out")).c_str()), 0);
  OutputFile file(dir.path("out"));
  file.write("new");
  EXPECT_NE(file.finish(), "");
  EXPECT_EQ(dir.read("other"), "kept");
  EXPECT_EQ(dir.read("out.part"), "kept as well");
}

TEST(OutputFile, SaysWhatFailedFirst) {
  const TempDir dir;
  OutputFile file(dir.path("none/out"));
  EXPECT_TRUE(file.has_failed());
  file.write("lost");
  EXPECT_EQ(file.finish(), "cannot write " + dir.path("none/out") + ": No such file or directory");
}

}  // namespace
}  // namespace tare::exporters
