// A line of source to the code that the compiler made of it: call sites (symbols.h) the other way round.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tare::reader {

// Code in an object file: addresses, in the file, from `low` up to `high`, which is not part of it.
struct CodeRange {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  bool operator==(const CodeRange&) const = default;
};

struct LineCode {
  std::vector<CodeRange> ranges;        // in order, apart from one another
  bool file_known = false;              // there is code of such a file
  std::optional<std::uint32_t> before;  // the nearest lines of the file with code
  std::optional<std::uint32_t> after;
};

// The code of a line of all files whose path is `file` or ends in it, folder by folder: also where the line is inlined,
// and what is inlined into it. Nothing if the object cannot be read or has no debug information.
LineCode code_of_line(const std::string& object, const std::string& file, std::uint32_t line);

}  // namespace tare::reader
