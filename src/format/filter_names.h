// The text that names the filters of the monitoring tree, as users write it and as rounds have it: one or several, with
// a plus between them, each NAME[:OPTIONS] or FILE.so[:ARGUMENTS]. A path may contain a plus; options and arguments may
// not.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

namespace tare::format {

inline constexpr std::array<std::string_view, 5> filter_names{"statistics", "histogram", "quantiles", "groups", "none"};

constexpr bool is_filter_name(std::string_view text) {
  return std::ranges::find(filter_names, text) != filter_names.end();
}

// The length of the first filter of the text.
constexpr std::size_t first_filter(std::string_view text) {
  constexpr std::string_view file_end = ".so";
  const std::string_view until_plus = text.substr(0, text.find('+'));
  if (is_filter_name(until_plus.substr(0, until_plus.find(':')))) return until_plus.size();
  for (std::size_t at = text.find(file_end); at != std::string_view::npos; at = text.find(file_end, at)) {
    at += file_end.size();
    if (at == text.size() || text[at] == ':' || text[at] == '+') return std::min(text.find('+', at), text.size());
  }
  return until_plus.size();
}

inline std::vector<std::string_view> split_filters(std::string_view text) {
  std::vector<std::string_view> filters;
  for (;;) {
    const std::size_t length = first_filter(text);
    filters.push_back(text.substr(0, length));
    if (length == text.size()) return filters;
    text.remove_prefix(length + 1);
  }
}

}  // namespace tare::format
