// Function numbers of one run. Every file carries the names it was written with; here they get one numbering:
// this build's numbers, and above them what only the file knows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tare::reader {

class FunctionNames {
 public:
  // Numbers of one file (or segment) to numbers of the run.
  using Map = std::vector<std::uint16_t>;

  // Number of what is not a known function: calls that no profile row was left for, numbers without a name.
  static constexpr std::uint16_t other = 0;

  FunctionNames();

  // Of a functions chunk: names, each ended by a zero byte, number 1 first.
  Map map_of(std::string_view payload);
  // Of this build, as in segments and in files whose functions chunk is lost.
  const Map& built_in() const { return built_in_; }
  const std::string& name(std::uint16_t number) const { return names_[number]; }
  const std::vector<std::string>& names() const { return names_; }

  static std::uint16_t lookup(const Map& map, std::uint64_t number) {
    return number < map.size() ? map[number] : other;
  }

 private:
  std::uint16_t number_of(std::string_view name);

  std::vector<std::string> names_;
  std::unordered_map<std::string, std::uint16_t> numbers_;
  Map built_in_;
};

// The payload of a functions chunk of this build.
std::string functions_payload();

}  // namespace tare::reader
