#include "reader/store/file_table.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace tare::reader {
namespace {

template <class T>
std::string_view bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

struct Parts {
  format::FileTableHead head{2, 1, 5, 0, 0};
  format::FileEntry entries[2]{{0, 0, format::FileKind::unknown, format::name_unknown, 0, 0},
                               {0, 5, format::FileKind::regular, 0, 3, 4}};
  format::FileUse use{};
  std::string names = std::string("/a\n\xff", 4) + "b" + std::string(3, '\0');

  std::string payload() const {
    std::string all(bytes_of(head));
    for (const format::FileEntry& entry : entries) all += bytes_of(entry);
    all += bytes_of(use);
    return all + names;
  }
};

TEST(UsedFiles, AreReadAsTheyAreWritten) {
  Parts parts;
  parts.use.file = 1;
  parts.use.interface = format::FileInterface::stdio;
  parts.use.writes.bytes = 99;
  const auto read = parse_files(parts.payload());
  ASSERT_TRUE(read);
  ASSERT_EQ(read->files.size(), 2U);
  EXPECT_EQ(read->files[0].name, "");
  EXPECT_EQ(read->files[1].name,
            "/a\n\xff"
            "b");
  EXPECT_EQ(read->files[1].entry.inode, 4U);
  ASSERT_EQ(read->uses.size(), 1U);
  EXPECT_EQ(read->uses[0].writes.bytes, 99U);
}

TEST(UsedFiles, ThatDoNotFitTogetherAreRefused) {
  EXPECT_FALSE(parse_files(""));
  const auto refused = [](auto change) {
    Parts parts;
    change(parts);
    return !parse_files(parts.payload());
  };
  EXPECT_FALSE(refused([](Parts&) {}));
  EXPECT_TRUE(refused([](Parts& parts) { parts.head.files = UINT32_MAX; }));
  EXPECT_TRUE(refused([](Parts& parts) { parts.head.uses = UINT32_MAX; }));
  EXPECT_TRUE(refused([](Parts& parts) { parts.head.name_bytes = 9; }));
  EXPECT_TRUE(refused([](Parts& parts) { parts.entries[1].name_at = 4; }));
  EXPECT_TRUE(refused([](Parts& parts) { parts.entries[1].name_at = UINT32_MAX; }));
  EXPECT_TRUE(refused([](Parts& parts) { parts.use.file = 2; }));
  EXPECT_TRUE(refused([](Parts& parts) { parts.use.interface = static_cast<format::FileInterface>(3); }));
}

TEST(UsedFiles, ThatCannotBeReadAreNone) { EXPECT_TRUE(read_files({}).uses.empty()); }

}  // namespace
}  // namespace tare::reader
