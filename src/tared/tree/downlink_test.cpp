#include "tared/tree/downlink.h"

#include <gtest/gtest.h>

#include "tared/tree/bindable.h"
#include "tared/tree/listen.h"

namespace tare::tared {
namespace {

TEST(Listen, WhatIsThereIsBound) {
  EXPECT_EQ(address_to_bind("127.0.0.0/8"), "127.0.0.1");
  EXPECT_EQ(address_to_bind("eth7"), "eth7") << "ZeroMQ finds interfaces by their names";
  for (const char* text : {"", "127.0.0.1", "lo", "127.0.0.0/8", "*"}) EXPECT_EQ(why_not_bound(text), "") << text;
}

TEST(Listen, WhatIsNotThereIsTold) {
  for (const char* text : {"eth909", "203.0.113.1", "203.0.113.0/24", "203.0.113.0/99", "a b", "[::"}) {
    const std::string why = why_not_bound(text);
    EXPECT_NE(why.find(text), std::string::npos) << text;
    EXPECT_NE(why.find("lo (127.0.0.1)"), std::string::npos) << why;
    EXPECT_EQ(why.find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace tare::tared
