// Finds the machine code of a source line. This is the inverse of the look-up in symbols.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tare::reader {

// Addresses in an object file: [low, high).
struct CodeRange {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  bool operator==(const CodeRange&) const = default;
};

struct LineCode {
  std::vector<CodeRange> ranges;        // sorted; they neither overlap nor touch
  bool file_known = false;              // whether there is code of the file
  std::optional<std::uint32_t> before;  // the nearest lines with code before and after the line
  std::optional<std::uint32_t> after;
};

// The code of a line, in all files whose path is `file` or ends with it (whole path components). It includes places
// where the line was inlined, and functions that were inlined into the line. Empty if the object cannot be read or has
// no debug information.
LineCode code_of_line(const std::string& object, const std::string& file, std::uint32_t line);

}  // namespace tare::reader
