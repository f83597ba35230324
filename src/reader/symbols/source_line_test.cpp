#include "reader/symbols/source_line.h"

#include <gtest/gtest.h>
#include <link.h>

#include <algorithm>
#include <filesystem>

namespace tare::reader {
namespace {

unsigned line_of_call;
unsigned line_of_inlined_call;

std::uint64_t return_address() __attribute__((noinline));
std::uint64_t return_address() {
  return reinterpret_cast<std::uint64_t>(__builtin_extract_return_addr(__builtin_return_address(0)));
}

[[gnu::always_inline]] inline std::uint64_t inlined() {
  line_of_call = __LINE__ + 1;
  const std::uint64_t address = return_address();
  asm volatile("");  // prevents a tail call
  return address;
}

// The address in the file, which is the address minus the bias of the program, the first object.
[[gnu::noinline]] std::uint64_t address_in_file() {
  line_of_inlined_call = __LINE__ + 1;
  std::uint64_t address = inlined();
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* to) {
        *static_cast<std::uint64_t*>(to) -= info->dlpi_addr;
        return 1;
      },
      &address);
  return address;
}

std::string this_program() { return std::filesystem::read_symlink("/proc/self/exe"); }

// Whether a call that returns to `address` is part of the line.
bool has(const LineCode& code, std::uint64_t address) {
  return std::any_of(code.ranges.begin(), code.ranges.end(),
                     [&](const CodeRange& range) { return range.low < address && address <= range.high; });
}

TEST(SourceLine, IsTheCodeOfItsCalls) {
  const std::uint64_t address = address_in_file();
  for (const char* file : {"source_line_test.cpp", "reader/symbols/source_line_test.cpp", __FILE__}) {
    EXPECT_TRUE(has(code_of_line(this_program(), file, line_of_call), address)) << file;
    EXPECT_FALSE(has(code_of_line(this_program(), file, line_of_call + 2), address)) << file;
  }
}

TEST(SourceLine, HasWhatIsInlinedIntoIt) {
  const std::uint64_t address = address_in_file();
  EXPECT_TRUE(has(code_of_line(this_program(), "source_line_test.cpp", line_of_inlined_call), address));
}

TEST(SourceLine, RangesAreInOrderAndApart) {
  address_in_file();
  const LineCode code = code_of_line(this_program(), "source_line_test.cpp", line_of_inlined_call);
  ASSERT_FALSE(code.ranges.empty());
  for (const CodeRange& range : code.ranges) EXPECT_LT(range.low, range.high);
  for (std::size_t i = 1; i < code.ranges.size(); ++i) EXPECT_GT(code.ranges[i].low, code.ranges[i - 1].high);
}

TEST(SourceLine, WithoutCodeHasNeighbours) {
  const LineCode code = code_of_line(this_program(), "source_line_test.cpp", 2);
  EXPECT_TRUE(code.file_known);
  EXPECT_TRUE(code.ranges.empty());
  EXPECT_FALSE(code.before);
  ASSERT_TRUE(code.after);
  EXPECT_GT(*code.after, 2U);
  EXPECT_LE(*code.after, 24U);
}

TEST(SourceLine, OfOtherFilesHasNothing) {
  for (const char* file : {"line_test.cpp", "no_such_file.cpp", ""})
    EXPECT_FALSE(code_of_line(this_program(), file, 20).file_known) << file;
  EXPECT_FALSE(code_of_line("/dev/null", "source_line_test.cpp", 20).file_known);
  EXPECT_FALSE(code_of_line("/no/such/file", "source_line_test.cpp", 20).file_known);
}

}  // namespace
}  // namespace tare::reader
