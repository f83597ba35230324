#include "format/number.h"

#include <gtest/gtest.h>

#include <cfenv>
#include <string>
#include <utility>

namespace tare::format {
namespace {

double decimal(std::string_view text) {
  Decimal read;
  return parse_decimal(text, read) && text.empty() ? read.value() : -1;
}

TEST(Number, WholeOnes) {
  std::uint64_t value = 7;
  for (const char* wrong : {"", "x", "1x", "-1", " 1", "1 ", "+1", "0x", "1.0", "18446744073709551616"}) {
    EXPECT_FALSE(parse_count(wrong, value)) << wrong;
    EXPECT_EQ(value, 7U) << wrong;
  }
  EXPECT_TRUE(parse_count("18446744073709551615", value));
  EXPECT_EQ(value, UINT64_MAX);
  EXPECT_TRUE(parse_count("0x1F", value));
  EXPECT_EQ(value, 31U);
}

TEST(Number, DecimalOnesAreTheNearest) {
  for (const double value : {0.0, 0.02, 0.1, 0.25, 1.0, 2.5e-4, 1e-290, 0.3333333333333333, 123456.789, 1e-9}) {
    const auto text = [&](const char* format) {
      char out[64];
      std::snprintf(out, sizeof out, format, value);
      return std::string(out);
    };
    EXPECT_EQ(decimal(text("%.17g")), value) << value;
  }
  EXPECT_EQ(decimal("0.1000000000000000055511151231257827021181583404541015625"), 0.1);
  EXPECT_EQ(decimal("1e-400"), 0);
  for (const char* wrong : {"", ".", "-1", "x", "99999999999999999999", "1e5", "0,02"}) EXPECT_EQ(decimal(wrong), -1);
}

TEST(Number, ReadingStopsBehindIt) {
  std::string_view text = "0.02,1000";
  Decimal read;
  ASSERT_TRUE(parse_decimal(text, read));
  EXPECT_EQ(text, ",1000");
}

TEST(Number, TimesAUnit) {
  const auto ns = [](std::string_view text, std::uint64_t unit) {
    Decimal read;
    std::uint64_t product = 0;
    EXPECT_TRUE(parse_decimal(text, read));
    return read.times(unit, product) ? product : UINT64_MAX;
  };
  EXPECT_EQ(ns("0.2", 1'000'000), 200'000U);
  EXPECT_EQ(ns("1.0000000005", 1'000'000'000), 1'000'000'001U);
  EXPECT_EQ(ns("1.0000000004", 1'000'000'000), 1'000'000'000U);
  EXPECT_EQ(ns("18446744073709551", 1'000'000), UINT64_MAX) << "too large";
}

TEST(Number, DecimalOnesHaveAtMostSoManyDigits) {
  for (const auto& [text, is_read] : {std::pair{"18446744073709551609", true}, {"18446744073709551610", false}}) {
    std::string_view left = text;
    Decimal read;
    EXPECT_EQ(parse_decimal(left, read), is_read) << text;
    std::uint64_t product = 0;
    if (is_read) {
      EXPECT_TRUE(read.times(1, product));
      EXPECT_EQ(product, 18446744073709551609U);
    }
  }
}

TEST(Number, DoNotDependOnTheRoundingMode) {
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    ASSERT_EQ(std::fesetround(mode), 0);
    const double value = decimal("0.1");
    std::fesetround(FE_TONEAREST);
    EXPECT_EQ(value, 0.1) << mode;
  }
}

}  // namespace
}  // namespace tare::format
