#include "reader/model/total_cost.h"

#include <algorithm>
#include <cmath>

namespace tare::reader {

namespace {

std::optional<format::Policy> policy_of(const format::ProcessRecord& record) {
  if ((record.flags & format::traced) == 0) return std::nullopt;
  if ((record.flags & format::drops) != 0) return format::Policy::drop;
  return (record.flags & format::overwrites) != 0 ? format::Policy::overwrite : format::Policy::block;
}

}  // namespace

void CostSums::add(const Process& process, const Totals& totals, const Account& account) {
  const format::ProcessRecord& record = process.record;
  const auto add_ns = [](std::int64_t& to, std::int64_t ns) { to = sum(to, ns); };
  ++processes_;
  sums_.calls += totals.calls + totals.counted;
  sums_.counted += totals.counted;
  calls_ns_ += account.call_ns * static_cast<double>(totals.calls);
  timed_calls_ns_ += account.timed_call_ns * static_cast<double>(totals.calls);
  sums_.lookup_ns += record.lookup_cost_ps / 1000.0;
  sums_.event_ns = std::max(sums_.event_ns, record.event_cost_ps / 1000.0);
  sums_.own_events += totals.api_events;
  add_ns(sums_.wrapper_ns, account.wrapper_ns);
  if (!std::isnan(account.wrapper_error_ns)) {
    ++with_error_;
    squared_errors_ += static_cast<long double>(account.wrapper_error_ns) * account.wrapper_error_ns;
  }
  sums_.weighed += account.weighed;
  spent_ns_ += account.spent_ns;
  add_ns(sums_.recorded_ns, account.recorded_ns);
  add_ns(wall_ns_, sum(account.wall_ns, account.other_recorded_ns));
  add_ns(sums_.hook_init_ns, account.hook_init_ns);
  add_ns(sums_.hook_finalize_ns, account.hook_finalize_ns);
  add_ns(sums_.chooser_ns, account.chooser_ns);
  add_ns(sums_.analysis_ns, account.analysis_ns);
  sums_.readings += totals.scheduling.readings;
  add_ns(sums_.reading_ns, account.reading_ns);
  sums_.stack_samples += totals.stack_samples;
  add_ns(sums_.stack_ns, account.stack_ns);
  sums_.flushes += totals.flushes;
  add_ns(sums_.flush_ns, account.flush_ns);
  sums_.flush_bytes += totals.flush_bytes;
  sums_.drains += totals.tared.drains;
  add_ns(sums_.drain_ns, account.drain_ns);
  sums_.drain_bytes += totals.tared.bytes;
  sums_.offload_points += process.offloads.points;
  sums_.offloads += process.offloads.offloads;
  sums_.offloads_lost += process.offloads.lost;
  add_ns(sums_.offload_ns, account.offload_ns);
  sums_.offload_max_ns = std::max(sums_.offload_max_ns, account.offload_max_ns);
  add_ns(sums_.offload_wait_ns, account.offload_wait_ns);
  sums_.dropped += totals.dropped;

  if (processes_ == 1) trace_.policy = policy_of(record);
  trace_.records += totals.records;
  trace_.bytes += totals.stored_bytes;
  trace_.dropped += totals.dropped;
  trace_.overwritten_bytes += totals.overwritten_bytes;
  trace_.kept_newest |= (totals.full & format::kept_newest) != 0;
  trace_.no_space |= (totals.full & format::no_space) != 0;
  trace_.written &= (record.flags & format::not_written) == 0;
}

TotalCost CostSums::cost() const {
  TotalCost cost = sums_;
  if (const std::uint64_t timed = cost.calls - cost.counted; timed != 0) {
    cost.call_ns = calls_ns_ / static_cast<double>(timed);
    cost.timed_call_ns = timed_calls_ns_ / static_cast<double>(timed);
  }
  if (processes_ != 0) cost.lookup_ns /= static_cast<double>(processes_);
  // The estimates of the processes are independent, so the squares of their half widths add up.
  if (with_error_ == processes_) cost.wrapper_error_ns = static_cast<double>(std::sqrt(squared_errors_));
  const auto hooks_ns = static_cast<double>(sum(cost.hook_init_ns, cost.hook_finalize_ns));
  const auto share = [](double of, std::int64_t all) {
    return all > 0 ? std::min(of / static_cast<double>(all), 1.0) : 0;
  };
  cost.net_share = share(spent_ns_, sums_.recorded_ns);
  cost.wall_share = share(spent_ns_ + hooks_ns, wall_ns_);
  return cost;
}

}  // namespace tare::reader
