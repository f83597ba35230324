// The function numbers of a run. Each file contains the sources of events and the names of the functions that its
// writer knew. This class gives all of them numbers of the run: those that this build knows keep their numbers, others
// get higher ones.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tare::reader {

class FunctionNames {
 public:
  // Maps the numbers of one file or segment to numbers of the run.
  using Map = std::vector<std::uint16_t>;

  // The number of no function: for calls for which no profile row was left, and for numbers without a name.
  static constexpr std::uint16_t other = 0;

  FunctionNames();

  // The map of a file, from its functions chunk (format/functions.h). In format 1 it has the names of the functions of
  // MPI alone, each ended by a zero byte, beginning with number 1.
  Map map_of(std::string_view payload, unsigned format_version);
  // The map of this build: for segments, and for files whose functions chunk is lost.
  const Map& built_in() const { return built_in_; }
  const std::string& name(std::uint16_t number) const { return names_[number]; }
  const std::vector<std::string>& names() const { return names_; }
  // The name of its source of events: "MPI". Also of `other`.
  const std::string& source(std::uint16_t number) const { return sources_[source_[number]]; }
  bool is_of_mpi(std::uint16_t number) const { return source_[number] == 0; }
  // The names of the arguments that its records have; a function of MPI has none of its own.
  const std::vector<std::string>& arguments(std::uint16_t number) const { return arguments_[number]; }
  // Whether a function of another source than MPI has the name.
  bool has_other(std::string_view name) const;
  // The bytes that a call of the function has moved, which one of its arguments may be; -1: none, or the call failed.
  std::int64_t bytes_among(std::uint16_t number, const std::uint64_t* arguments, std::size_t count) const;

  static std::uint16_t lookup(const Map& map, std::uint64_t number) {
    return number < map.size() ? map[number] : other;
  }

 private:
  std::uint16_t number_of(std::string_view name, std::string_view source, std::string_view arguments);

  std::vector<std::string> names_;
  std::vector<std::string> sources_{"MPI"};
  std::vector<std::uint16_t> source_;                       // by number: index in sources_
  std::vector<std::vector<std::string>> arguments_;         // by number
  std::unordered_map<std::string, std::uint16_t> numbers_;  // by name, source and arguments
  Map built_in_;
};

// The payload of a functions chunk of this build.
std::string functions_payload();

}  // namespace tare::reader
