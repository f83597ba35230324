#include "format/round.h"

#include <algorithm>

#include "format/filter_names.h"

namespace tare::format {

namespace {

// The beginning of a record of a round.
struct Head {
  std::uint64_t round;
  std::int64_t first_offload_ns, last_offload_ns, arrived_ns, clock_error_ns;
  RoundCost cost;
};
static_assert(sizeof(Head) == 64);

constexpr double max_ns = 0x1p64;

}  // namespace

void Round::write(Writer& out) const {
  out.put(Head{round, first_offload_ns, last_offload_ns, arrived_ns, clock_error_ns, cost});
  ranks.write(out);
  lost.write(out);
  out.put_text(filter);
  out.put_all(reduced);
}

bool Round::read(Reader& in, Round& round) {
  const auto head = in.get<Head>();
  round.round = head.round;
  round.first_offload_ns = head.first_offload_ns;
  round.last_offload_ns = head.last_offload_ns;
  round.arrived_ns = head.arrived_ns;
  round.clock_error_ns = head.clock_error_ns;
  round.cost = head.cost;
  if (!RankSet::read(in, round.ranks) || !RankSet::read(in, round.lost)) return false;
  round.filter = in.get_view();
  if (round.filter.size() > max_filter_bytes || std::ranges::count(round.filter, '+') >= std::ptrdiff_t{max_filters})
    return in.fail();
  round.reduced = in.take(in.left());
  return in.ok();
}

void Round::write_lost(Writer& out, std::uint64_t round, const RankSet& lost) {
  out.put(round);
  lost.write(out);
}

bool Round::read_lost(Reader& in, Round& round) {
  round = {};
  round.round = in.get<std::uint64_t>();
  return RankSet::read(in, round.lost);
}

bool PaceRecord::read(Reader& in, PaceRecord& pace) {
  pace = in.get<PaceRecord>();
  if (pace.interval_ns > 0 && pace.boi_ns >= 0 && pace.boi_ns <= max_ns && pace.rest_ns >= 0 && pace.rest_ns <= max_ns)
    return in.ok();
  return in.fail();
}

void add_record(Bytes& payload, RoundRecord kind, const std::function<void(Writer&)>& put) {
  Writer out(payload);
  out.put(kind);
  const std::size_t at = out.size();
  out.put(std::uint32_t{0});
  put(out);
  out.put_at(at, static_cast<std::uint32_t>(out.size() - at - sizeof(std::uint32_t)));
}

bool next_record(Reader& payload, RoundRecord& kind, Reader& content) {
  kind = payload.get<RoundRecord>();
  content = Reader(payload.take(payload.get<std::uint32_t>()));
  return payload.ok();
}

bool split_result(std::string_view filter, std::span<const std::byte> reduced, std::vector<FilterResult>& parts) {
  const auto filters = split_filters(filter);
  parts.clear();
  if (filters.size() == 1) {
    parts.push_back({filter, reduced});
    return true;
  }
  Reader in(reduced);
  for (const std::string_view one : filters) parts.push_back({one, in.take(in.get<std::uint32_t>())});
  return in.ok();
}

}  // namespace tare::format
