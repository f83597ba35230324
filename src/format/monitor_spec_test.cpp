#include "format/monitor_spec.h"

#include <gtest/gtest.h>

#include <string>

namespace tare::format {
namespace {

MonitorSpec parsed(const char* text) {
  MonitorSpec spec;
  EXPECT_EQ(parse_monitor_spec(text, spec), nullptr) << text;
  return spec;
}

TEST(MonitorSpec, IsReadAsItIsWritten) {
  const MonitorSpec spec =
      parsed("policy=block,interval=1000,epoch=17,every=3,ring=65536,depth=2,wait=9,region=4:a,b=c");
  EXPECT_EQ(spec.policy, MonitorPolicy::block);
  EXPECT_EQ(spec.interval_ns, 1000U);
  EXPECT_EQ(spec.epoch_ns, 17U);
  EXPECT_EQ(spec.every, 3U);
  EXPECT_EQ(spec.ring_bytes, 65536U);
  EXPECT_EQ(spec.depth, 2U);
  EXPECT_EQ(spec.wait_ns, 9U);
  EXPECT_EQ(spec.region_every, 4U);
  EXPECT_STREQ(spec.region, "a,b=c");
}

TEST(MonitorSpec, WhatIsForOthersIsLeftToThem) { EXPECT_EQ(parsed("filter=none,every=2").every, 2U); }

TEST(MonitorSpec, WhatIsNoneChangesNothing) {
  for (const char* text : {"policy", "policy=never", "interval=1s", "every=0", "ring=1000", "ring=65537", "region=a",
                           "region=0:a", "region=1:", "depth="}) {
    MonitorSpec spec;
    spec.every = 7;
    EXPECT_NE(parse_monitor_spec(text, spec), nullptr) << text;
    EXPECT_EQ(spec.every, 7U) << text;
  }
  const std::string long_name = "region=1:" + std::string(MonitorSpec::name_bytes, 'x');
  MonitorSpec spec;
  EXPECT_NE(parse_monitor_spec(long_name.c_str(), spec), nullptr);
}

}  // namespace
}  // namespace tare::format
