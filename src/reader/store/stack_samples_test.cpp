#include "reader/store/stack_samples.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace tare::reader {
namespace {

template <class T>
std::string_view bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

std::string payload_of(std::uint32_t announced, std::initializer_list<format::SampledStack> stacks) {
  format::StackSamples head{};
  head.interval_ns = 10;
  head.stacks = announced;
  std::string payload(bytes_of(head));
  for (const format::SampledStack& stack : stacks) payload += bytes_of(stack);
  return payload;
}

TEST(StackSamples, AreReadAsTheyAreWritten) {
  const auto read = parse_stack_samples(
      payload_of(2, {{1, 2, format::SampledIn::program, 3, 4}, {5, 6, format::SampledIn::call, 7, 8}}));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->head.interval_ns, 10U);
  ASSERT_EQ(read->stacks.size(), 2U);
  EXPECT_EQ(read->stacks[1].site, 5U);
  EXPECT_EQ(read->stacks[1].thread, 6U);
  EXPECT_EQ(read->stacks[1].in, format::SampledIn::call);
  EXPECT_EQ(read->stacks[1].samples, 7U);
  EXPECT_EQ(read->stacks[1].ns, 8U);
}

TEST(StackSamples, OfAnotherLengthAreRefused) {
  EXPECT_FALSE(parse_stack_samples(""));
  EXPECT_FALSE(parse_stack_samples(payload_of(2, {{1, 2, format::SampledIn::program, 3, 4}})));
  EXPECT_FALSE(parse_stack_samples(payload_of(0, {{1, 2, format::SampledIn::program, 3, 4}})));
  EXPECT_FALSE(parse_stack_samples(payload_of(UINT32_MAX, {})));
}

TEST(StackSamples, ThatCannotBeReadAreNone) { EXPECT_TRUE(read_stack_samples({}).stacks.empty()); }

}  // namespace
}  // namespace tare::reader
