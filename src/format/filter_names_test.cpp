#include "format/filter_names.h"

#include <gtest/gtest.h>

namespace tare::format {
namespace {

using Filters = std::vector<std::string_view>;

TEST(FilterNames, APlusIsBetweenThem) {
  EXPECT_EQ(split_filters("statistics"), Filters{"statistics"});
  EXPECT_EQ(split_filters("statistics+histogram:16:time+none"), (Filters{"statistics", "histogram:16:time", "none"}));
}

TEST(FilterNames, APathMayContainOne) {
  EXPECT_EQ(split_filters("/a+b/c.so:x+groups:3"), (Filters{"/a+b/c.so:x", "groups:3"}));
  EXPECT_EQ(split_filters("/a.some+b/c.so+none"), (Filters{"/a.some+b/c.so", "none"})) << "the name ends behind .so";
  EXPECT_EQ(split_filters("none+/a+b.so"), (Filters{"none", "/a+b.so"}));
  EXPECT_EQ(split_filters("/c++/a.so+/c.sox/b.so:1:2+"), (Filters{"/c++/a.so", "/c.sox/b.so:1:2", ""}));
}

}  // namespace
}  // namespace tare::format
