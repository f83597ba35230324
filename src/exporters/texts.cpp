#include "exporters/texts.h"

#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

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

using format::ParameterType;

std::int64_t signed_value(std::uint64_t word, ParameterType type) {
  if (type == ParameterType::i8) return static_cast<std::int8_t>(word);
  if (type == ParameterType::i16) return static_cast<std::int16_t>(word);
  if (type == ParameterType::i32) return static_cast<std::int32_t>(word);
  return static_cast<std::int64_t>(word);
}

std::uint64_t unsigned_value(std::uint64_t word, ParameterType type) {
  if (type == ParameterType::u8) return static_cast<std::uint8_t>(word);
  if (type == ParameterType::u16) return static_cast<std::uint16_t>(word);
  if (type == ParameterType::u32) return static_cast<std::uint32_t>(word);
  return word;
}

double floating_value(std::uint64_t word, ParameterType type) {
  if (type == ParameterType::f32) return std::bit_cast<float>(static_cast<std::uint32_t>(word));
  return std::bit_cast<double>(word);
}

std::vector<ParameterType> parameter_types(const reader::Run& run, const reader::EventRow& row) {
  std::vector<ParameterType> types;
  if (row.event_type >= 0) types = run.event_types()[static_cast<std::size_t>(row.event_type)].parameters;
  types.resize(row.parameters.size(), ParameterType::u64);
  return types;
}

std::string parameters_text(const reader::Run& run, const reader::EventRow& row) {
  const std::vector<ParameterType> types = parameter_types(run, row);
  std::string text;
  for (std::size_t i = 0; i < row.parameters.size(); ++i) {
    const ParameterType type = types[i];
    const std::uint64_t word = row.parameters[i];
    char digits[32];
    char* const end = std::end(digits);
    const char* const last = is_floating(type) ? std::to_chars(digits, end, floating_value(word, type)).ptr
                             : is_signed(type) ? std::to_chars(digits, end, signed_value(word, type)).ptr
                                               : std::to_chars(digits, end, unsigned_value(word, type)).ptr;
    if (i != 0) text += ", ";
    text.append(digits, static_cast<std::size_t>(last - digits));
  }
  return text;
}

namespace {

// Bytes of the character at the start of `bytes`, which is not empty; 0 if it is no valid one, or a control character.
std::size_t character_length(std::string_view bytes) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return first < 0x20 || first == 0x7f ? 0 : 1;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || bytes.size() < length) return 0;
  std::uint32_t code = first & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3fU);
  }
  constexpr std::uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = code >= 0xd800 && code < 0xe000;
  const bool is_control = code < 0xa0 || code == 0x2028 || code == 0x2029;  // C1, and line ends of Unicode
  return code < smallest[length] || code > 0x10ffff || is_surrogate || is_control ? 0 : length;
}

}  // namespace

std::string plain_text(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    std::size_t length = character_length(bytes);
    if (length != 0) {
      text.append(bytes.substr(0, length));
    } else {
      constexpr char digits[] = "0123456789abcdef";
      const auto byte = static_cast<unsigned char>(bytes[0]);
      text.append({'\\', 'x', digits[byte >> 4], digits[byte & 15U]});
      length = 1;
    }
    bytes.remove_prefix(length);
  }
  return text;
}

}  // namespace tare::exporters
