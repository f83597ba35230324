#include "exporters/texts.h"

#include <gtest/gtest.h>

namespace tare::exporters {
namespace {

TEST(PlainText, KeepsWhatIsText) {
  EXPECT_EQ(plain_text("MPI_Send"), "MPI_Send");
  EXPECT_EQ(plain_text("Größe \xe2\x82\xac \xf0\x9f\x98\x80"), "Größe \xe2\x82\xac \xf0\x9f\x98\x80");
  EXPECT_EQ(plain_text(""), "");
}

TEST(PlainText, EscapesControlCharacters) {
  EXPECT_EQ(plain_text(std::string_view("a\0b\n\x1b[31m\x7f", 10)), "a\\x00b\\x0a\\x1b[31m\\x7f");
  EXPECT_EQ(plain_text("\xc2\x85"), "\\xc2\\x85");           // next line, of C1
  EXPECT_EQ(plain_text("\xe2\x80\xa8"), "\\xe2\\x80\\xa8");  // line separator
}

TEST(PlainText, EscapesWhatIsNoUtf8) {
  EXPECT_EQ(plain_text("\xff"), "\\xff");
  EXPECT_EQ(plain_text("\xc3"), "\\xc3");           // cut off
  EXPECT_EQ(plain_text("\xc0\x80"), "\\xc0\\x80");  // longer than need be
  EXPECT_EQ(plain_text("\xe0\x80\x80"), "\\xe0\\x80\\x80");
  EXPECT_EQ(plain_text("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // half of a pair
  EXPECT_EQ(plain_text("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // beyond Unicode
  EXPECT_EQ(plain_text("\x80x"), "\\x80x");
}

}  // namespace
}  // namespace tare::exporters
