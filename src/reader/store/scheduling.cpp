#include "reader/store/scheduling.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tare::reader {

using namespace tare::format;

bool parse_scheduling(std::string_view payload, std::vector<Scheduling>& all) {
  all.clear();
  while (!payload.empty()) {
    Scheduling of;
    if (payload.size() < sizeof of.sums) return false;
    std::memcpy(&of.sums, payload.data(), sizeof of.sums);
    payload.remove_prefix(sizeof of.sums);
    const std::uint64_t bytes = std::uint64_t{of.sums.spans} * sizeof(SchedulingSpan);
    if (payload.size() < bytes) return false;
    of.spans.resize(of.sums.spans);
    if (bytes != 0) std::memcpy(of.spans.data(), payload.data(), bytes);
    payload.remove_prefix(bytes);
    all.push_back(std::move(of));
  }
  return true;
}

std::vector<Scheduling> read_scheduling(const SchedulingSource& source) {
  std::vector<Scheduling> all;
  std::vector<char> raw;
  std::string reason;
  const bool is_read = source.copy != nullptr ? parse_scheduling(*source.copy, all)
                                              : source.chunk != nullptr && load_chunk(*source.chunk, raw, reason) &&
                                                    parse_scheduling({raw.data(), raw.size()}, all);
  if (!is_read) all.clear();
  return all;
}

OffTimes off_times(const OffProcessor& of) {
  constexpr auto most = static_cast<std::uint64_t>(INT64_MAX);  // a file may hold anything
  const std::uint64_t all = std::min(of.ns, most), unknown = std::min(of.unknown_ns, all);
  const std::uint64_t descheduled = std::min(of.descheduled_ns, all - unknown);
  return {static_cast<std::int64_t>(descheduled), static_cast<std::int64_t>(all - unknown - descheduled),
          static_cast<std::int64_t>(unknown)};
}

RankSet allowed_processors(const SchedulingSums& sums) {
  RankSet numbers;
  for (std::uint32_t i = 0; i < 64 * processor_words; ++i)
    if ((sums.allowed[i / 64] >> (i % 64) & 1U) != 0) numbers.insert(i);
  return numbers;
}

}  // namespace tare::reader
