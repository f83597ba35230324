#include "reader/store/function_names.h"

#include "format/functions.h"

namespace tare::reader {

FunctionNames::FunctionNames() : names_{"other"} {
  built_in_.push_back(other);
  for (unsigned i = 1; i <= format::function_count; ++i) built_in_.push_back(number_of(format::function_name(i)));
}

std::uint16_t FunctionNames::number_of(std::string_view name) {
  if (name.empty() || names_.size() > UINT16_MAX) return other;
  const auto [entry, is_new] = numbers_.try_emplace(std::string(name), static_cast<std::uint16_t>(names_.size()));
  if (is_new) names_.emplace_back(name);
  return entry->second;
}

FunctionNames::Map FunctionNames::map_of(std::string_view payload) {
  Map map{other};
  while (!payload.empty() && map.size() <= UINT16_MAX) {
    const std::size_t end = payload.find('\0');
    map.push_back(number_of(payload.substr(0, end)));
    if (end == std::string_view::npos) break;
    payload.remove_prefix(end + 1);
  }
  return map;
}

std::string functions_payload() {
  std::string payload;
  for (unsigned i = 1; i <= format::function_count; ++i) {
    payload += format::function_name(i);
    payload += '\0';
  }
  return payload;
}

}  // namespace tare::reader
