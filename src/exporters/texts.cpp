#include "exporters/texts.h"

#include <charconv>
#include <cstdint>
#include <iterator>
#include <vector>

#include "reader/utf8.h"

namespace tare::exporters {

using namespace tare::reader;

Names::Names(Run& run) : run_(run) {
  const std::vector<SiteInfo>& sites = run.sites();
  sites_.reserve(sites.size());
  for (const SiteInfo& site : sites)
    sites_.push_back({plain_text(site.symbol.caller), plain_text(site.symbol.file), site.symbol.line});
  for (const CommunicatorInfo& communicator : run.communicators())
    communicators_.push_back(plain_text(communicator.name));
  for (const ScopeInfo& scope : run.scopes()) scopes_.push_back(plain_text(scope.name));
  for (const Process& process : run.processes()) has_worlds_ = has_worlds_ || process.world != 0;
}

std::string Names::process(std::uint32_t number) const {
  const Process& process = run_.processes()[number];
  if (process.record.rank < 0) return "process " + std::to_string(process.record.pid);
  const std::string rank = "rank " + std::to_string(process.record.rank);
  return has_worlds_ ? "world " + std::to_string(process.world) + " " + rank : rank;
}

std::string Names::thread(const Track& track) const {
  if (track.is_of_tared) return "tared";
  return track.name != nullptr ? plain_text(*track.name) : "thread " + std::to_string(track.thread);
}

std::string Names::event(const EventRow& row) const { return plain_text(EventStream::name(run_, row)); }

std::string place_text(const CodePlace& place) {
  if (place.file.empty()) return place.caller;
  const std::size_t slash = place.file.rfind('/');
  const std::string name = slash == std::string::npos ? place.file : place.file.substr(slash + 1);
  return place.line == 0 ? name : name + ":" + std::to_string(place.line);
}

std::string parameters_text(const reader::Run& run, const reader::EventRow& row) {
  const std::vector<format::ParameterType> types = parameter_types(run, row);
  std::string text;
  for (std::size_t i = 0; i < row.parameters.size(); ++i) {
    char digits[32];
    const char* const last = with_value(row.parameters[i], types[i], [&](auto value) -> const char* {
      return std::to_chars(digits, std::end(digits), value).ptr;
    });
    if (i != 0) text += ", ";
    text.append(digits, static_cast<std::size_t>(last - digits));
  }
  return text;
}

std::string plain_text(std::string_view bytes) {
  return escaped(bytes, [](std::uint32_t code) {
    const bool is_control = code < 0x20 || (code >= 0x7f && code < 0xa0);
    return !is_control && code != 0x2028 && code != 0x2029;  // line ends of Unicode
  });
}

}  // namespace tare::exporters
