#include "reader/store/payload.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

namespace tare::reader {
namespace {

constexpr std::string_view ten_bytes("\1\0\2\0\3\0\4\0\5\0", 10);

TEST(Payload, RecordsAreTakenFromItsFront) {
  std::string_view payload = ten_bytes;
  std::uint16_t first = 0;
  std::vector<std::uint16_t> others;
  ASSERT_TRUE(take_record(payload, first));
  EXPECT_EQ(first, 1U);
  ASSERT_TRUE(take_records(payload, 2, others));
  EXPECT_EQ(others, (std::vector<std::uint16_t>{2, 3}));
  ASSERT_TRUE(take_all_records(payload, others));
  EXPECT_EQ(others, (std::vector<std::uint16_t>{4, 5}));
}

TEST(Payload, NothingIsTakenWhereTooLittleIsLeft) {
  std::string_view payload = ten_bytes.substr(0, 3);
  std::uint32_t record = 7;
  std::vector<std::uint16_t> records;
  std::string text;
  EXPECT_FALSE(take_record(payload, record));
  EXPECT_FALSE(take_records(payload, 2, records));
  EXPECT_FALSE(take_records(payload, UINT64_MAX, records)) << "whose bytes no number holds";
  EXPECT_FALSE(take_text(payload, 4, text));
  EXPECT_FALSE(take_all_records(payload, records)) << "the last one is cut off";
  EXPECT_EQ(payload.size(), 3U);
  EXPECT_EQ(record, 7U);
  EXPECT_TRUE(take_text(payload, 3, text));
  EXPECT_EQ(text, std::string("\1\0\2", 3));
  EXPECT_TRUE(take_records(payload, 0, records) && take_all_records(payload, records) && records.empty());
}

TEST(Payload, OfAnOlderRecordTheFirstBytesAreTaken) {
  std::string_view payload = ten_bytes;
  std::uint32_t record = 0xff00'0000;
  ASSERT_TRUE(take_record(payload, record, 2));
  EXPECT_EQ(record, 0xff00'0001U);
  EXPECT_EQ(payload.size(), 8U);
}

std::optional<std::string> without_last(std::string_view payload) {
  if (payload.empty()) return std::nullopt;
  return std::string(payload.substr(0, payload.size() - 1));
}

TEST(PayloadSource, ACopyComesBeforeAChunk) {
  EXPECT_FALSE(PayloadSource{}.is_there());
  EXPECT_EQ(read_payload({}, without_last), "");
  const PayloadSource source{nullptr, std::make_shared<const std::string>("abc")};
  EXPECT_TRUE(source.is_there());
  EXPECT_EQ(read_payload(source, without_last), "ab");
  EXPECT_EQ(read_payload({nullptr, std::make_shared<const std::string>()}, without_last), "") << "it is damaged";
}

}  // namespace
}  // namespace tare::reader
