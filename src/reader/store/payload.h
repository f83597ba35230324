// What payloads of chunks are made of, and where a payload is.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reader/store/chunk_scan.h"

namespace tare::reader {

// These functions take what a payload begins with. They return false, and take nothing, if fewer bytes are left.

// The first `bytes` bytes of a record.
template <class T>
bool take_record(std::string_view& payload, T& record, std::size_t bytes = sizeof(T)) {
  if (payload.size() < bytes) return false;
  std::memcpy(static_cast<void*>(&record), payload.data(), bytes);
  payload.remove_prefix(bytes);
  return true;
}
template <class T>
bool take_records(std::string_view& payload, std::uint64_t count, std::vector<T>& records) {
  if (payload.size() / sizeof(T) < count) return false;
  records.resize(count);
  if (count != 0) std::memcpy(records.data(), payload.data(), count * sizeof(T));
  payload.remove_prefix(count * sizeof(T));
  return true;
}
// All that are left; false if the last one is cut off.
template <class T>
bool take_all_records(std::string_view payload, std::vector<T>& records) {
  return payload.size() % sizeof(T) == 0 && take_records(payload, payload.size() / sizeof(T), records);
}
inline bool take_text(std::string_view& payload, std::uint64_t bytes, std::string& text) {
  if (payload.size() < bytes) return false;
  text.assign(payload.substr(0, bytes));
  payload.remove_prefix(bytes);
  return true;
}

// Where the newest payload of a process is: a chunk on disk, or a copy from the segment. Both are null if there is
// none.
struct PayloadSource {
  const ChunkRef* chunk = nullptr;            // of Run::files()
  std::shared_ptr<const std::string> copy{};  // used if not null
  bool is_there() const { return chunk != nullptr || copy != nullptr; }
};

// What `parse` makes of the payload, an std::optional. An empty value if there is no payload, or if it is damaged.
template <class Parse>
auto read_payload(const PayloadSource& source, Parse parse) {
  std::vector<char> raw;
  std::string reason;
  decltype(parse(std::string_view{})) all;
  if (source.copy != nullptr)
    all = parse(*source.copy);
  else if (source.chunk != nullptr && load_chunk(*source.chunk, raw, reason))
    all = parse(std::string_view(raw.data(), raw.size()));
  return std::move(all).value_or(typename decltype(all)::value_type{});
}

}  // namespace tare::reader
