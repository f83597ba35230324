#include "reader/store/scheduling.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace tare::reader {

using namespace tare::format;

namespace {

// Nothing if the payload of a scheduling chunk is malformed.
std::optional<std::vector<Scheduling>> parse_scheduling(std::string_view payload) {
  std::vector<Scheduling> all;
  while (!payload.empty()) {
    Scheduling of;
    if (!take_record(payload, of.sums) || !take_records(payload, of.sums.spans, of.spans)) return std::nullopt;
    all.push_back(std::move(of));
  }
  return all;
}

}  // namespace

std::vector<Scheduling> read_scheduling(const PayloadSource& source) { return read_payload(source, parse_scheduling); }

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
