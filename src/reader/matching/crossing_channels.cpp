#include "reader/matching/crossing_channels.h"

#include <algorithm>

#include "reader/time_arithmetic.h"

namespace tare::reader {
namespace {

// Clocks of processes on one node differ by less. A message is received in some hundred nanoseconds.
constexpr std::int64_t clock_error_ns = 1000;

Channel in_no_epoch(Channel at) {
  at.epoch = 0;
  return at;
}

}  // namespace

CrossingChannels::CrossingChannels(Run& run) {
  for (const Process& process : run.processes()) {
    if (process.spells.empty()) continue;
    std::vector<std::int64_t>& begins_ns = begins_ns_[{process.world, process.record.rank}];
    for (const auto& [number, spell] : process.spells) begins_ns.push_back(process.begin_of(spell));
    begins_ns.push_back(process.end_of(process.spells.rbegin()->second));
  }
}

std::optional<std::size_t> CrossingChannels::spells_until(std::int32_t world, std::int32_t rank,
                                                          std::int64_t time_ns) const {
  const auto found = begins_ns_.find({world, rank});
  if (found == begins_ns_.end() || time_ns >= found->second.back()) return std::nullopt;
  const auto after = std::upper_bound(found->second.begin(), found->second.end(), time_ns);
  return static_cast<std::size_t>(after - found->second.begin());
}

bool CrossingChannels::look_at(const Channel& at, std::int32_t world, const Part& sent, const Part& received) {
  if (begins_ns_.empty()) return false;
  bool crosses = false;
  // The size of a received message is known if the trace has the completion of the receive.
  if (at.epoch != 0 && received.is_complete && received.bytes != format::no_bytes)
    crosses = received.completed.leave_ns < difference(sent.posted.enter_ns, clock_error_ns) ||
              (sent.bytes != format::no_bytes && sent.bytes != received.bytes);
  const auto sent_in = spells_until(world, sent.rank, sent.posted.enter_ns);
  const auto received_in = spells_until(world, received.rank, received.posted.enter_ns);
  if (sent_in && received_in && *sent_in < *received_in) crosses = true;
  if (crosses) found_.try_emplace(in_no_epoch(at), false);
  return leaves_out(at);
}

bool CrossingChannels::leaves_out(const Channel& at) {
  if (at.epoch == 0 || found_.empty()) return false;
  const auto found = found_.find(in_no_epoch(at));
  if (found == found_.end()) return false;
  if (!std::exchange(found->second, true)) ++left_out_;
  return true;
}

}  // namespace tare::reader
