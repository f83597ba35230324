#include "reader/store/file_table.h"

#include <cstring>

namespace tare::reader {
namespace {

// Takes `count` values from the front of the payload; false if it is too short.
template <class Value>
bool take(std::string_view& payload, std::uint64_t count, std::vector<Value>& values) {
  if (payload.size() / sizeof(Value) < count) return false;
  values.resize(count);
  if (count != 0) std::memcpy(values.data(), payload.data(), count * sizeof(Value));
  payload.remove_prefix(count * sizeof(Value));
  return true;
}

}  // namespace

std::optional<UsedFiles> parse_files(std::string_view payload) {
  std::vector<format::FileTableHead> head;
  std::vector<format::FileEntry> entries;
  UsedFiles all;
  if (!take(payload, 1, head) || !take(payload, head[0].files, entries) || !take(payload, head[0].uses, all.uses))
    return std::nullopt;
  if (payload.size() < head[0].name_bytes) return std::nullopt;
  for (const format::FileEntry& entry : entries) {
    const bool is_there = entry.name_at <= payload.size() && entry.name_bytes <= payload.size() - entry.name_at;
    if (!is_there) return std::nullopt;
    all.files.push_back({entry, std::string(payload.substr(entry.name_at, entry.name_bytes))});
  }
  for (const format::FileUse& use : all.uses)
    if (use.file >= all.files.size() || static_cast<std::uint32_t>(use.interface) >= format::file_interfaces)
      return std::nullopt;
  return all;
}

UsedFiles read_files(const FileSource& source) {
  std::vector<char> raw;
  std::string reason;
  std::optional<UsedFiles> all;
  if (source.copy != nullptr)
    all = parse_files(*source.copy);
  else if (source.chunk != nullptr && load_chunk(*source.chunk, raw, reason))
    all = parse_files({raw.data(), raw.size()});
  return all.value_or(UsedFiles{});
}

}  // namespace tare::reader
