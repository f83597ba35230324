#include "format/segment_layout.h"

#include <gtest/gtest.h>

#include <string>

#include "format/file_table.h"
#include "format/node_file_name.h"
#include "format/segment_name.h"

namespace tare::format {
namespace {

constexpr std::uint64_t file_bytes = std::uint64_t{1} << 22U;

SegmentLayout sound() {
  SegmentLayout layout{};
  layout.functions = 100;
  layout.row_capacity = 16;
  layout.definitions_at = segment_header_bytes;
  layout.definitions_capacity = 4096;
  layout.requests_at = 2 * segment_header_bytes;
  layout.locations_at = std::uint64_t{1} << 21U;
  layout.ring = {2, 4096, Policy::block};
  layout.location_stride = (buffer_at(16) + layout.ring.total() + 4095) / 4096 * 4096;
  return layout;
}

TEST(SegmentLayout, OfARealSegmentIsSound) { EXPECT_EQ(fault_of(sound(), file_bytes), nullptr); }

TEST(SegmentLayout, WhatLiesOutsideTheFileIsNot) {
  const auto expect_fault = [](auto change) {
    SegmentLayout layout = sound();
    change(layout);
    EXPECT_NE(fault_of(layout, file_bytes), nullptr);
  };
  for (const std::uint64_t wild :
       {std::uint64_t{0}, file_bytes, file_bytes + 64, std::uint64_t{1} << 63U, ~std::uint64_t{0}}) {
    if (wild != file_bytes) expect_fault([&](SegmentLayout& layout) { layout.locations_at = wild; });
    expect_fault([&](SegmentLayout& layout) { layout.definitions_at = wild; });
    if (wild != 0) expect_fault([&](SegmentLayout& layout) { layout.definitions_capacity = wild; });
    if (wild != 0) expect_fault([&](SegmentLayout& layout) { layout.requests_at = wild; });
    if (wild != 0) expect_fault([&](SegmentLayout& layout) { layout.samples_at = wild; });
    if (wild != 0) expect_fault([&](SegmentLayout& layout) { layout.files_at = wild; });
    if (wild != file_bytes && wild != file_bytes + 64)
      expect_fault([&](SegmentLayout& layout) { layout.location_stride = wild; });
  }
  expect_fault([](SegmentLayout& layout) { layout.functions = max_functions; });
  expect_fault([](SegmentLayout& layout) { layout.row_capacity = 0; });
  expect_fault([](SegmentLayout& layout) { layout.row_capacity = UINT32_MAX; });
  expect_fault([](SegmentLayout& layout) { layout.samples_at = layout.locations_at; });
  expect_fault([](SegmentLayout& layout) { layout.files_at = layout.locations_at - sizeof(FileTable) + 8; });
}

// What tared once sized its copy by one reading of, and bounded it by another.
TEST(SegmentLayout, ARingLiesInItsBlock) {
  for (const auto& [count, bytes] :
       {std::pair{2U, UINT32_MAX}, {UINT32_MAX, 4096U}, {2U, 0U}, {2U, 4097U}, {3U, 4096U}}) {
    SegmentLayout layout = sound();
    layout.ring.count = count;
    layout.ring.bytes = bytes;
    EXPECT_NE(fault_of(layout, file_bytes), nullptr) << count << " of " << bytes;
  }
  SegmentLayout layout = sound();
  layout.ring.policy = static_cast<Policy>(3);
  EXPECT_NE(fault_of(layout, file_bytes), nullptr);
}

TEST(LocationBlock, ThoseOfTaredHaveABitOfTheirOwn) {
  EXPECT_FALSE(is_of_tared(0));
  EXPECT_FALSE(is_of_tared(0x7fffffff));
  EXPECT_TRUE(is_of_tared(tared_block | 5));
}

TEST(SegmentName, HasItsPartsOrIsNone) {
  const auto name = parse_segment_name("tare-0123456789abcdef-77-0badcafe");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->run_id, "0123456789abcdef");
  EXPECT_EQ(name->pid, 77U);
  for (const char* other :
       {"", "tare-", "tare-0123456789abcdef", "tare-0123456789abcdef-77", "tare-0123456789abcdef-77-",
        "tare-0123456789abcdef-x-1", "tare-0123456789abcdef-0-1", "tare-0123456789abcdef--7-1",
        "tare-0123456789abcdef-7-g", "tare-0123456789abcdef-7-1/../x", "tare-0123456789abcdef-99999999999-1",
        "tare-0123456789ABCDEF-7-1", "tare-../../etc/passwd-7-1", "tare-0123456789abcdef0-7-1",
        "tare-0123456789abcdef-7-00000000000000001", "xtare-0123456789abcdef-7-1"})
    EXPECT_FALSE(parse_segment_name(other)) << other;
}

TEST(NodeFileName, StaysInItsDirectory) {
  const auto name = [](const char* host) {
    char out[72];
    node_file_name(out, sizeof out, host);
    return std::string(out);
  };
  EXPECT_EQ(name("node-7.cluster_a"), "node-7.cluster_a.tare");
  EXPECT_EQ(name("../../etc"), "_._.._etc.tare");
  EXPECT_EQ(name(""), "unknown.tare");
  EXPECT_EQ(name(".hidden\n\x1b[31m"), "_hidden___31m.tare");
  EXPECT_EQ(name(std::string(500, 'x').c_str()).size(), 71U);
}

}  // namespace
}  // namespace tare::format
