// The rounds of a run with `--monitor`, as its files have them (docs/format.md). The payload of a chunk of rounds is a
// sequence of records, each with a kind, its length and as many bytes.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "format/bytes.h"
#include "format/rank_set.h"
#include "format/time_arithmetic.h"

namespace tare::format {

enum class RoundRecord : std::uint32_t { name = 1, round = 2, lost_round = 3, pace = 4 };

enum class EventKind : std::uint8_t { function, region, phase, counter };
inline constexpr std::array<std::string_view, 4> event_kind_names = {"function", "region", "phase", "counter"};
constexpr std::string_view name_of(EventKind kind) { return event_kind_names[static_cast<std::size_t>(kind)]; }

struct EventName {
  EventKind kind = EventKind::function;
  std::string_view name;
};

// Takes the identity of an event apart: "MPI_Send", "region solve", "phase setup", "counter residual".
constexpr EventName event_name(std::string_view identity) {
  for (const EventKind kind : {EventKind::region, EventKind::phase, EventKind::counter}) {
    const std::string_view prefix = name_of(kind);
    if (identity.starts_with(prefix) && identity.substr(prefix.size()).starts_with(' '))
      return {kind, identity.substr(prefix.size() + 1)};
  }
  return {EventKind::function, identity};
}

// Identifies an event: a hash of its identity, equal on all ranks.
using EventKey = std::uint64_t;

// Keys in files and packets ascend.
inline bool are_ascending(std::span<const EventKey> keys) {
  for (std::size_t i = 1; i < keys.size(); ++i)
    if (keys[i - 1] >= keys[i]) return false;
  return true;
}

// The sums of one event on one rank, since the program began.
struct Metrics {
  double calls;  // of a counter: how often it was set
  double time_ns;
  double bytes;  // of a counter: its value
};
inline constexpr std::size_t metric_count = sizeof(Metrics) / sizeof(double);

// Profiles with more events are refused.
inline constexpr std::uint32_t max_events = 1U << 18U;
// Of the text that names the filters of a round (filter_names.h).
inline constexpr std::size_t max_filter_bytes = std::size_t{8} << 10U;
inline constexpr std::size_t max_filters = 64;

// The cost of reducing a round, summed over the nodes that took part.
struct RoundCost {
  std::uint64_t reduce_ns = 0;  // merging: T_R of Nataraj et al. (2008) is reduce_ns / reductions
  std::uint64_t packet_ns = 0;  // encoding and decoding: T_P is packet_ns / packets
  std::uint32_t reductions = 0;
  std::uint32_t packets = 0;
};

// A round at the root. Times are of the root's clock, since the epoch. Views are valid as long as what was read.
struct Round {
  std::uint64_t round = 0;            // its number
  RankSet ranks;                      // ranks whose snapshots it contains
  RankSet lost;                       // ranks of the tree whose snapshots are missing
  std::int64_t first_offload_ns = 0;  // the earliest and the latest of the ranks in it
  std::int64_t last_offload_ns = 0;
  std::int64_t arrived_ns = 0;      // when the last part of it had arrived at the root
  std::int64_t clock_error_ns = 0;  // the uncertainty of the offload times; 0 on one node
  RoundCost cost;
  std::string_view filter;             // what reduced it (filter_names.h); empty: the round was lost
  std::span<const std::byte> reduced;  // the result of the filter; its header gives the format

  // The one-way delay of Nataraj et al.: from the earliest offload to the arrival.
  std::int64_t delay_ns() const { return difference(arrived_ns, first_offload_ns); }

  // The content of a record of a round.
  void write(Writer& out) const;
  static bool read(Reader& in, Round& round);
  // The content of a record of a lost round.
  static void write_lost(Writer& out, std::uint64_t round, const RankSet& lost);
  static bool read_lost(Reader& in, Round& round);
};

// The content of a record of a pace: a decision of `--monitor=auto`.
struct PaceRecord {
  std::uint64_t from_round = 0;  // the first round for which it holds
  std::int64_t interval_ns = 0;  // between offloads
  double boi_ns = 0;             // the bottleneck offload interval; 0: not known yet
  double rest_ns = 0;            // the one-way delay at rest; 0: not known yet

  static bool read(Reader& in, PaceRecord& pace);
};

// Appends a record, whose content `put` writes, to a payload.
void add_record(Bytes& payload, RoundRecord kind, const std::function<void(Writer&)>& put);
// Reads the next record of a payload. False after the last whole one.
bool next_record(Reader& payload, RoundRecord& kind, Reader& content);

// What one of the filters of a round made of it.
struct FilterResult {
  std::string_view filter;  // with its arguments
  std::span<const std::byte> reduced;
};
// Takes the result of a round apart, if several filters made it. False if it is damaged.
bool split_result(std::string_view filter, std::span<const std::byte> reduced, std::vector<FilterResult>& parts);

}  // namespace tare::format
