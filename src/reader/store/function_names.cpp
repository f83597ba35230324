#include "reader/store/function_names.h"

#include <algorithm>

#include "format/chunk.h"
#include "format/functions.h"
#include "reader/store/payload.h"

namespace tare::reader {
namespace {

// The text up to the next zero byte, which is removed from `of` with it.
std::string_view take_name(std::string_view& of) {
  const std::size_t end = std::min(of.find('\0'), of.size());
  const std::string_view text = of.substr(0, end);
  of.remove_prefix(std::min(end + 1, of.size()));
  return text;
}

std::vector<std::string> at_commas(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

}  // namespace

FunctionNames::FunctionNames() : names_{"other"}, source_{0}, arguments_(1) {
  built_in_ = map_of(functions_payload(), format::format_version);
}

std::uint16_t FunctionNames::number_of(std::string_view name, std::string_view source, std::string_view arguments) {
  if (name.empty() || names_.size() > UINT16_MAX) return other;
  // A function with other arguments is another one: an older tare may have recorded less.
  const std::string key = std::string(name) + '\0' + std::string(source) + '\0' + std::string(arguments);
  const auto [entry, is_new] = numbers_.try_emplace(key, static_cast<std::uint16_t>(names_.size()));
  if (is_new) {
    const auto known = std::find(sources_.begin(), sources_.end(), source);
    source_.push_back(static_cast<std::uint16_t>(known - sources_.begin()));
    if (known == sources_.end()) sources_.emplace_back(source);
    names_.emplace_back(name);
    arguments_.push_back(at_commas(arguments));
  }
  return entry->second;
}

FunctionNames::Map FunctionNames::map_of(std::string_view payload, unsigned format_version) {
  Map map{other};
  const auto is_full = [&] { return map.size() > UINT16_MAX; };
  if (format_version == 1) {
    while (!payload.empty() && !is_full()) map.push_back(number_of(take_name(payload), sources_.front(), ""));
    return map;
  }
  std::uint32_t functions = 0;
  while (take_record(payload, functions)) {
    const std::string_view source = take_name(payload);
    for (std::uint32_t i = 0; i < functions && !payload.empty() && !is_full(); ++i) {
      const std::string_view name = take_name(payload);
      map.push_back(number_of(name, source, take_name(payload)));
    }
  }
  return map;
}

bool FunctionNames::has_other(std::string_view name) const {
  for (std::size_t number = format::mpi_function_count + 1; number < names_.size(); ++number)
    if (names_[number] == name && source_[number] != 0) return true;
  return false;
}

std::int64_t FunctionNames::bytes_among(std::uint16_t number, const std::uint64_t* arguments, std::size_t count) const {
  const std::vector<std::string>& names = arguments_[number];
  for (std::size_t i = 0; i < std::min(names.size(), count); ++i)
    if (names[i] == "bytes") return static_cast<std::int64_t>(arguments[i]);
  return -1;
}

std::string functions_payload() {
  std::string payload(format::functions_bytes(), '\0');
  format::put_functions(payload.data());
  return payload;
}

}  // namespace tare::reader
