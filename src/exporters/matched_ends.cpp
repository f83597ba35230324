#include "exporters/matched_ends.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "format/function_meaning.h"
#include "format/record.h"
#include "reader/matching/match_stream.h"

namespace tare::exporters {

using namespace tare::reader;
using format::no_request;

namespace {

// A request whose completion is not seen (MPI_Request_free, a gap) counts as completed where it was started.
bool is_seen_complete(const Part& part) {
  const PartCall &posted = part.posted, &completed = part.completed;
  const bool is_same = posted.thread == completed.thread && posted.number == completed.number;
  return part.is_complete && (posted.request == no_request || !is_same);
}

// One line of them: there may be one for each rank.
std::string in_short(const std::vector<std::string>& warnings) {
  constexpr std::size_t most = 4;
  std::string line;
  for (std::size_t i = 0; i < std::min(most, warnings.size()); ++i) line += (i == 0 ? "" : "; ") + warnings[i];
  if (warnings.size() > most) line += "; and " + std::to_string(warnings.size() - most) + " more";
  return line;
}

}  // namespace

std::string_view MatchedEnds::gaps(Run& run) {
  std::string_view found;
  for (std::size_t i = 0; i < run.processes().size(); ++i) {
    const Totals& totals = run.totals(i);
    if (totals.dropped != 0 || totals.overwritten_bytes != 0) return "records are missing";
    const Process& process = run.processes()[i];
    if (process.record.callbacks_since != 0) found = "calls that were made in callbacks are not in the trace";
    if (!process.spells.empty()) found = "calls that were only counted are not in the trace";
  }
  return found;
}

bool MatchedEnds::has_cancels(Run& run) {
  const auto sums = run.profile_sums({.function = true});
  return std::any_of(sums.begin(), sums.end(), [](const ProfileSum& sum) {
    return sum.calls != 0 && format::meaning_of(sum.key.function).cancels;
  });
}

Result<std::optional<MatchedEnds>> MatchedEnds::read(Run& run, const std::function<bool(std::uint64_t)>& goes_on) {
  auto stream = MatchStream::open(run);
  if (!stream) return stream.failure();
  MatchedEnds found;
  std::uint64_t messages = 0;
  while (stream->next()) {
    for (const Message& message : stream->messages()) found.add(message, ++messages);
    for (const Collective& collective : stream->collectives()) found.add(collective);
    if (goes_on != nullptr && !goes_on(0)) return std::optional<MatchedEnds>();
  }
  found.sort();
  found.reason_ = in_short(stream->warnings());
  if (found.reason_.empty()) found.reason_ = gaps(run);
  return std::optional(std::move(found));
}

void MatchedEnds::add(const Message& message, std::uint64_t number) {
  if (!message.is_matched() || !is_seen_complete(message.received)) return;
  if (message.received.bytes == format::no_bytes) return;  // the receive failed, so there is no record of it
  const PartCall &sent = message.sent.posted, &posted = message.received.posted;
  const std::int32_t source = message.sent.rank, destination = message.received.rank;
  add(message.world, source, sent, {number, sent.request, destination, MatchedEnd::Kind::sent});
  add(message.world, destination, posted, {number, posted.request, source, MatchedEnd::Kind::posted});
  add(message.world, destination, message.received.completed,
      {number, posted.request, source, MatchedEnd::Kind::received});
}

void MatchedEnds::add(const Collective& collective) {
  if (collective.parts.size() != static_cast<std::size_t>(collective.size)) return;
  if (!std::all_of(collective.parts.begin(), collective.parts.end(), is_seen_complete)) return;
  for (const Part& part : collective.parts)
    add(collective.world, part.rank, part.posted, {0, part.posted.request, -1, MatchedEnd::Kind::collective});
}

void MatchedEnds::add(std::int32_t world, std::int32_t rank, const PartCall& call, const MatchedEnd& end) {
  Calls& calls = calls_[{world, rank, call.thread}];
  calls.numbers.push_back(call.number);
  calls.ends.push_back(end);
}

void MatchedEnds::sort() {
  for (auto& [thread, calls] : calls_) {
    std::vector<std::size_t> order(calls.ends.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const std::vector<std::uint64_t>& numbers = calls.numbers;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return numbers[a] < numbers[b]; });
    Calls sorted;
    sorted.numbers.reserve(order.size());
    sorted.ends.reserve(order.size());
    for (const std::size_t at : order) {
      sorted.numbers.push_back(numbers[at]);
      sorted.ends.push_back(calls.ends[at]);
    }
    calls = std::move(sorted);
  }
}

std::span<const MatchedEnd> MatchedEnds::of_call(const EventRow& call) {
  const auto found = calls_.find({call.world, call.rank, call.thread});
  if (found == calls_.end()) return {};
  Calls& calls = found->second;
  const std::uint64_t number = calls.next_call++;
  const std::size_t first = calls.next_end;
  while (calls.next_end < calls.ends.size() && calls.numbers[calls.next_end] == number) ++calls.next_end;
  return {calls.ends.data() + first, calls.next_end - first};
}

}  // namespace tare::exporters
