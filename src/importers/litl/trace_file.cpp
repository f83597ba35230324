#include "importers/litl/trace_file.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tare::importers::litl {

namespace {

constexpr std::size_t version_bytes = 8, system_bytes = 128, name_bytes = 256;
constexpr std::size_t file_header = version_bytes + system_bytes + sizeof(std::uint16_t);
constexpr std::size_t process_header = name_bytes + 2 * sizeof(std::uint16_t) + sizeof(std::uint32_t) + 16;
constexpr std::size_t event_head = sizeof(std::uint64_t) + sizeof(std::uint32_t) + 1;
constexpr std::uint32_t link_code = 13;
constexpr std::uint8_t link_type = 3;  // defined in its headers, and not used by its writer

constexpr const char* cut_off = "it is cut off, or damaged";
constexpr const char* entangled = "it is damaged: its chunks do not follow one another";

// 0 beyond the end of the file; callers have checked.
template <typename Number>
Number number_at(std::string_view bytes, std::size_t at) {
  Number value{};
  if (at <= bytes.size() && bytes.size() - at >= sizeof value) std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

bool has(std::string_view bytes, std::uint64_t at, std::uint64_t count) {
  return at <= bytes.size() && count <= bytes.size() - at;
}

std::string text_at(std::string_view bytes, std::size_t at, std::size_t most) {
  const std::string_view field = bytes.substr(at, most);
  return std::string(field.substr(0, field.find('\0')));
}

bool is_link(const Event& event, std::uint8_t type) {
  return event.code == link_code && event.time_ns == 0 && event.data.size() == sizeof(std::uint64_t) &&
         (type == static_cast<std::uint8_t>(EventKind::regular) || type == link_type);
}

}  // namespace

bool TraceFile::is_one(std::string_view begin) {
  if (begin.size() < file_header) return false;
  const std::string version = text_at(begin, 0, version_bytes);
  const auto is_part = [](char c) { return c == '.' || (c >= '0' && c <= '9'); };
  return version.find('.') != std::string::npos && version.size() < version_bytes &&
         std::all_of(version.begin(), version.end(), is_part) &&
         number_at<std::uint16_t>(begin, file_header - sizeof(std::uint16_t)) != 0;
}

reader::Result<TraceFile> TraceFile::read(std::string_view bytes) {
  if (!is_one(bytes)) return reader::Failure{"it is no trace of LiTL"};
  TraceFile file(bytes);
  const auto count = number_at<std::uint16_t>(bytes, file_header - sizeof(std::uint16_t));
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = file_header + i * process_header;
    if (!has(bytes, at, process_header)) return reader::Failure{cut_off};
    Process process;
    process.name = text_at(bytes, at, name_bytes);
    process.origin = number_at<std::uint64_t>(bytes, at + process_header - sizeof process.origin);
    if (std::string error = file.read_threads(process); !error.empty()) return reader::Failure{std::move(error)};
    file.processes_.push_back(std::move(process));
  }
  return file;
}

std::string TraceFile::read_threads(Process& process) const {
  for (std::uint64_t at = process.origin;;) {
    if (!has(bytes_, at, 2 * sizeof(std::uint64_t))) return cut_off;
    const auto id = number_at<std::uint64_t>(bytes_, at);
    const auto offset = number_at<std::uint64_t>(bytes_, at + sizeof id);
    if (!has(bytes_, process.origin, offset)) return cut_off;
    if (id == 0 && offset == 0) return {};
    const std::uint64_t there = process.origin + offset;
    if (id != 0) process.threads.push_back({id, offset == 0 ? 0 : there});
    if (id == 0 && there <= at) return entangled;
    at = id == 0 ? there : at + 2 * sizeof(std::uint64_t);
  }
}

// The second word of the output of uname.
std::string TraceFile::host() const {
  const std::string system = text_at(bytes_, version_bytes, system_bytes);
  const std::size_t begin = system.find(' ');
  if (begin == std::string::npos) return {};
  return system.substr(begin + 1, system.find(' ', begin + 1) - begin - 1);
}

// Chunks are only appended, so a link leads forward: reading ends.
std::string TraceFile::read_events(const Process& process, const Thread& thread, std::uint64_t& left,
                                   const Take& take) const {
  for (std::uint64_t at = thread.first; at != 0;) {
    const auto type = number_at<std::uint8_t>(bytes_, at + event_head - 1);
    const bool counts = type == static_cast<std::uint8_t>(EventKind::regular) || type == link_type;
    const std::uint64_t length_bytes = counts ? 1 : sizeof(std::uint32_t);
    if (!has(bytes_, at, event_head + length_bytes)) return cut_off;
    if (type > link_type) return "it is damaged: it has an event of type " + std::to_string(type);
    const std::uint64_t begin = at + event_head + length_bytes;
    const std::uint64_t count = counts ? number_at<std::uint8_t>(bytes_, begin - 1) * sizeof(std::uint64_t)
                                       : number_at<std::uint32_t>(bytes_, begin - length_bytes);
    if (!has(bytes_, begin, count)) return cut_off;
    if (begin + count - at > left) return entangled;
    left -= begin + count - at;
    const Event event{number_at<std::uint64_t>(bytes_, at),
                      number_at<std::uint32_t>(bytes_, at + sizeof(std::uint64_t)), static_cast<EventKind>(type),
                      bytes_.substr(begin, count)};
    if (!is_link(event, type)) {
      if (type == link_type) return "it is damaged: it has an event of type " + std::to_string(type);
      if (!take(event)) return {};
      at = begin + count;
      continue;
    }
    const auto offset = number_at<std::uint64_t>(bytes_, begin);
    if (offset == 0) return {};
    if (!has(bytes_, process.origin, offset)) return cut_off;
    if (process.origin + offset <= at) return entangled;
    at = process.origin + offset;
  }
  return {};
}

}  // namespace tare::importers::litl
