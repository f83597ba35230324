#include "reader/store/calls_chunk.h"

#include <cstring>

namespace tare::reader {
namespace {

using namespace tare::format;

template <typename T>
void append(std::string& payload, const T* items, std::size_t count) {
  payload.append(reinterpret_cast<const char*>(items), count * sizeof(T));
}

template <typename T>
void take(std::string_view& payload, std::vector<T>& items, std::size_t count) {
  items.resize(count);
  if (count != 0) std::memcpy(items.data(), payload.data(), count * sizeof(T));
  payload.remove_prefix(count * sizeof(T));
}

}  // namespace

std::string calls_payload(const std::vector<ThreadCall>& calls, const std::vector<RequestEntry>& requests) {
  const CallsHead head{static_cast<std::uint32_t>(calls.size()), static_cast<std::uint32_t>(requests.size())};
  std::string payload;
  append(payload, &head, 1);
  append(payload, calls.data(), calls.size());
  append(payload, requests.data(), requests.size());
  return payload;
}

bool parse_calls(std::string_view payload, std::vector<ThreadCall>& calls, std::vector<RequestEntry>& requests) {
  CallsHead head{};
  if (payload.size() < sizeof head) return false;
  std::memcpy(&head, payload.data(), sizeof head);
  payload.remove_prefix(sizeof head);
  const std::uint64_t bytes =
      std::uint64_t{head.threads} * sizeof(ThreadCall) + std::uint64_t{head.requests} * sizeof(RequestEntry);
  if (payload.size() != bytes) return false;
  take(payload, calls, head.threads);
  take(payload, requests, head.requests);
  return true;
}

}  // namespace tare::reader
