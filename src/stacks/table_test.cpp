#include "stacks/table.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tare::stacks {
namespace {

using format::SampledIn;
using format::SampledStack;

class Table : public testing::Test {
 protected:
  format::StackSamples& head() { return *reinterpret_cast<format::StackSamples*>(memory_.data()); }
  const SampledStack* slots() { return reinterpret_cast<const SampledStack*>(&head() + 1); }
  std::vector<SampledStack> used() {
    std::vector<SampledStack> found;
    for (std::uint32_t slot = 0; slot < format::stack_slots; ++slot)
      if (slots()[slot].samples != 0) found.push_back(slots()[slot]);
    return found;
  }

 private:
  std::vector<std::uint64_t> memory_ = std::vector<std::uint64_t>(format::stack_samples_bytes / 8);
};

TEST_F(Table, AddsUpSamplesOfAPlace) {
  add_sample(head(), {7, 1, SampledIn::program}, 10);
  add_sample(head(), {7, 1, SampledIn::program}, 12);
  ASSERT_EQ(used().size(), 1U);
  const SampledStack stack = used()[0];
  EXPECT_EQ(stack.site, 7U);
  EXPECT_EQ(stack.thread, 1U);
  EXPECT_EQ(stack.in, SampledIn::program);
  EXPECT_EQ(stack.samples, 2U);
  EXPECT_EQ(stack.ns, 22U);
  EXPECT_EQ(head().samples, 2U);
  EXPECT_EQ(head().lost, 0U);
}

TEST_F(Table, KeepsSitesThreadsAndActivitiesApart) {
  add_sample(head(), {7, 1, SampledIn::program}, 1);
  add_sample(head(), {8, 1, SampledIn::program}, 1);
  add_sample(head(), {7, 2, SampledIn::program}, 1);
  add_sample(head(), {7, 1, SampledIn::call}, 1);
  EXPECT_EQ(used().size(), 4U);
}

TEST_F(Table, CountsWhatFindsNoRoom) {
  constexpr std::uint32_t more = 2 * format::stack_slots;
  for (std::uint32_t site = 1; site <= more; ++site) add_sample(head(), {site, 0, SampledIn::program}, 1);
  EXPECT_EQ(head().samples, more);
  EXPECT_EQ(used().size() + head().lost, more);
  EXPECT_GT(used().size(), format::stack_slots * 3 / 4);
}

}  // namespace
}  // namespace tare::stacks
