#include "reader/store/calls_chunk.h"

#include "reader/store/payload.h"

namespace tare::reader {
namespace {

using namespace tare::format;

template <typename T>
void append(std::string& payload, const T* items, std::size_t count) {
  payload.append(reinterpret_cast<const char*>(items), count * sizeof(T));
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
  if (!take_record(payload, head)) return false;
  const std::uint64_t bytes =
      std::uint64_t{head.threads} * sizeof(ThreadCall) + std::uint64_t{head.requests} * sizeof(RequestEntry);
  return payload.size() == bytes && take_records(payload, head.threads, calls) &&
         take_records(payload, head.requests, requests);
}

}  // namespace tare::reader
