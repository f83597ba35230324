#include "reader/model/weight.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "reader/model/quantiles.h"

namespace tare::reader {
namespace {

using namespace tare::format;

struct Sample {
  double mean = 0;
  double variance = 0;
};

Sample sample_of(std::uint64_t calls, std::uint64_t ticks, double squared) noexcept {
  Sample sample;
  if (calls == 0) return sample;
  const auto count = static_cast<double>(calls);
  sample.mean = static_cast<double>(ticks) / count;
  if (calls > 1) sample.variance = std::max(0.0, (squared - count * sample.mean * sample.mean) / (count - 1));
  return sample;
}

}  // namespace

void WeighedTotals::add(const WeighedCalls& more) noexcept {
  if (more.kind >= weighed_kinds) return;  // from a damaged file
  WeighedCalls& to = weighed[more.kind];
  to.interrupted += more.interrupted;
  to.first_calls += more.first_calls;
  to.first_ticks += more.first_ticks;
  to.calls += more.calls;
  to.ticks += more.ticks;
  to.ticks_squared += more.ticks_squared;
}

void WeighedTotals::add(const WeighedTotals& more) noexcept {
  for (unsigned kind = 0; kind < weighed_kinds; ++kind) {
    calls[kind] += more.calls[kind];
    WeighedCalls of_kind = more.weighed[kind];
    of_kind.kind = kind;
    add(of_kind);
  }
}

Weight weight_of(const WeighedTotals& totals) noexcept {
  std::uint64_t calls = 0;
  std::uint64_t ticks = 0;
  double squared = 0;
  std::uint64_t first_calls = 0;
  std::uint64_t first_ticks = 0;
  for (const WeighedCalls& kind : totals.weighed) {
    calls += kind.calls;
    ticks += kind.ticks;
    squared += kind.ticks_squared;
    first_calls += kind.first_calls;
    first_ticks += kind.first_ticks;
  }
  Sample all = sample_of(calls, ticks, squared);
  if (calls == 0) all = sample_of(first_calls, first_ticks, 0);
  Weight weight;
  weight.weighed = calls + first_calls;
  double variance = 0;
  std::uint64_t all_calls = 0;
  std::uint64_t timed = 0;
  double timed_ticks = 0;
  for (unsigned kind = 0; kind < weighed_kinds; ++kind) {
    const WeighedCalls& weighed = totals.weighed[kind];
    const std::uint64_t rest = totals.calls[kind] - std::min(totals.calls[kind], weighed.first_calls);
    const bool enough = weighed.calls > 1;
    const Sample sample = enough ? sample_of(weighed.calls, weighed.ticks, weighed.ticks_squared) : all;
    const auto count = static_cast<double>(rest);
    const double of_kind = static_cast<double>(weighed.first_ticks) + count * sample.mean;
    weight.ticks += of_kind;
    all_calls += totals.calls[kind];
    if (rest > 0) {
      const auto sampled = static_cast<double>(std::max<std::uint64_t>(enough ? weighed.calls : 1, 1));
      variance += count * count * sample.variance / sampled * std::max(0.0, 1 - sampled / count);
      if (calls < 2) variance = std::numeric_limits<double>::quiet_NaN();
    }
    if (kind == untimed) continue;
    timed += totals.calls[kind];
    timed_ticks += of_kind;
  }
  weight.half_width = normal_95 * std::sqrt(variance);
  if (all_calls > 0) weight.call = weight.ticks / static_cast<double>(all_calls);
  if (timed > 0) weight.timed_call = timed_ticks / static_cast<double>(timed);
  return weight;
}

}  // namespace tare::reader
