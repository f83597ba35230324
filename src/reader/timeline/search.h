// What is looked for in a timeline.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tare::reader {

// Words are bits: a call fits if each word fits its function or its call site. An empty search finds all calls.
struct Search {
  std::vector<std::uint32_t> functions{};  // by number in Run::functions(): the words that fit it
  std::vector<std::uint32_t> sites{};      // by index in Run::sites(), the same
  std::uint32_t words = 0;                 // all words
  std::size_t first = 0, rows = SIZE_MAX;  // rows of the timeline
  std::int64_t min_ns = 0;
  std::int32_t peer = -1;  // rank of the world; -1: any

  // Whether it fits wherever it is called.
  bool fits(std::uint16_t function) const { return (of(functions, function) & words) == words; }
  bool fits(std::uint16_t function, std::int32_t site) const {
    const std::uint32_t found = of(functions, function) | (site < 0 ? 0 : of(sites, static_cast<std::size_t>(site)));
    return (found & words) == words;
  }

 private:
  static std::uint32_t of(const std::vector<std::uint32_t>& masks, std::size_t at) {
    return at < masks.size() ? masks[at] : 0;
  }
};

}  // namespace tare::reader
