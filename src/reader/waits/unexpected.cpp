#include "reader/waits/unexpected.h"

#include <algorithm>
#include <bit>

#include "format/function_meaning.h"
#include "reader/time_arithmetic.h"

namespace tare::reader {
namespace {

// A queue of at most so many messages takes no time to look through. What is usual needs so many calls.
constexpr std::uint32_t short_queue = 8;
constexpr std::uint64_t enough_calls = 5;
// A receive is slow if it takes so many times as long as usual.
constexpr double slow = 2;

}  // namespace

// Four bins for each power of two.
void Unexpected::Times::add(std::int64_t time_ns) {
  const auto ns = static_cast<std::uint64_t>(std::max<std::int64_t>(time_ns, 1)) << 2;
  const int width = static_cast<int>(std::bit_width(ns)) - 3;
  Bin& bin = bins[4 * width + static_cast<int>(ns >> width & 3U)];
  ++bin.calls;
  bin.time_ns = sum(bin.time_ns, time_ns);
}

double Unexpected::Times::median_ns() const {
  std::uint64_t calls = 0, before = 0;
  for (const auto& [at, bin] : bins) calls += bin.calls;
  if (calls < enough_calls) return 0;
  for (const auto& [at, bin] : bins)
    if (2 * (before += bin.calls) >= calls) return static_cast<double>(bin.time_ns) / static_cast<double>(bin.calls);
  return 0;
}

void Unexpected::add(const End& end) {
  const PartCall& receive = end.other;
  const format::FunctionMeaning& meaning = format::meaning_of(receive.function);
  const bool is_unexpected = end.is_unexpected();
  const bool blocks = receive.request == format::no_request;
  // What else a call does takes time as well. A call that was posted in time and does not block says nothing.
  const bool is_timed = meaning.kind == format::CallClass::receive || meaning.is_matched_probe();
  if (!is_unexpected && (!blocks || !is_timed)) return;
  const int size = end.bytes == format::no_bytes ? 64 : static_cast<int>(std::bit_width(end.bytes));
  const Kind kind{end.world, end.other_rank, receive.function, size};
  const std::int64_t time_ns = difference(receive.leave_ns, std::max(receive.enter_ns, end.posted.enter_ns));
  if (!is_unexpected) return usual_[kind][0].add(time_ns);
  Of& of = all_[{end.world, end.other_rank, end.rank, receive.function, receive.site}];
  of.sum.world = end.world;
  of.sum.rank = end.other_rank;
  of.sum.source = end.rank;
  of.sum.function = receive.function;
  of.sum.site = receive.site;
  ++of.sum.messages;
  if (end.bytes != format::no_bytes) of.sum.bytes += end.bytes;
  of.sum.longest_queue = std::max(of.sum.longest_queue, end.queued.value_or(0));
  if (!is_timed) return;
  of.times[size].add(time_ns);
  if (end.queued && *end.queued <= short_queue) usual_[kind][1].add(time_ns);
}

double Unexpected::usual_ns(const Kind& kind) const {
  const auto found = usual_.find(kind);
  return found == usual_.end() ? 0 : std::max(found->second[0].median_ns(), found->second[1].median_ns());
}

std::vector<UnexpectedSum> Unexpected::sums() const {
  std::vector<UnexpectedSum> all;
  for (const auto& [key, of] : all_) {
    UnexpectedSum& row = all.emplace_back(of.sum);
    for (const auto& [size, times] : of.times) {
      const double usual = usual_ns({row.world, row.rank, row.function, size});
      for (const auto& [at, bin] : times.bins) {
        const auto calls = static_cast<double>(bin.calls), time_ns = static_cast<double>(bin.time_ns);
        if (usual <= 0 || time_ns <= slow * usual * calls) continue;
        row.slow += bin.calls;
        row.time_ns = sum(row.time_ns, static_cast<std::int64_t>(time_ns - usual * calls));
      }
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const UnexpectedSum& a, const UnexpectedSum& b) {
    return std::tie(a.time_ns, a.messages) > std::tie(b.time_ns, b.messages);
  });
  return all;
}

}  // namespace tare::reader
