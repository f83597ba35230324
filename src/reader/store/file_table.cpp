#include "reader/store/file_table.h"

namespace tare::reader {

std::optional<UsedFiles> parse_files(std::string_view payload) {
  format::FileTableHead head;
  std::vector<format::FileEntry> entries;
  UsedFiles all;
  if (!take_record(payload, head) || !take_records(payload, head.files, entries) ||
      !take_records(payload, head.uses, all.uses))
    return std::nullopt;
  if (payload.size() < head.name_bytes) return std::nullopt;
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

UsedFiles read_files(const PayloadSource& source) { return read_payload(source, parse_files); }

}  // namespace tare::reader
