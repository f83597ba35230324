#include "reader/waits/critical_path.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "reader/events/event_stream.h"
#include "reader/events/traced_time.h"
#include "reader/time_arithmetic.h"

namespace tare::reader {
namespace {

using Handovers = std::vector<std::vector<Handover>>;  // by thread, sorted by time

// Follows the path backwards from the end of a thread. Appends the pieces, the last one first.
void walk(const Handovers& handovers, std::uint32_t thread, const TracedTime& net, std::vector<PathPiece>& path) {
  std::int64_t now = net.end_ns;
  while (true) {
    const auto& of = handovers[thread];
    const auto behind = std::partition_point(of.begin(), of.end(), [now](const Handover& h) { return h.at_ns < now; });
    if (behind == of.begin()) {
      path.push_back({thread, std::min(net.begin_ns, now), now});
      return;
    }
    const Handover& last = *std::prev(behind);
    path.push_back({thread, last.at_ns, now});
    thread = last.cause;
    now = std::min(last.cause_ns, last.at_ns);
    if (now <= net.begin_ns) return;
  }
}

}  // namespace

std::vector<PathPiece> critical_path(const Run& run, const std::vector<TracedThread>& threads) {
  Handovers handovers;
  std::map<std::pair<int, int>, std::uint32_t> first;  // by world and rank: its first thread
  for (std::uint32_t i = 0; i < threads.size(); ++i) {
    handovers.push_back(threads[i].handovers);
    std::sort(handovers.back().begin(), handovers.back().end(),
              [](const Handover& a, const Handover& b) { return a.at_ns < b.at_ns; });
    first.try_emplace({threads[i].world, threads[i].rank}, i);
  }
  struct Last {
    std::uint32_t thread;
    TracedTime net;
  };
  std::map<int, Last> last;  // of each world
  const std::vector<TracedTime> times = traced_times(run);
  for (std::size_t i = 0; i < times.size(); ++i) {
    const Process& process = run.processes()[i];
    const auto thread = first.find({process.world, process.record.rank});
    if (thread == first.end()) continue;
    const TracedTime& net = times[i];
    const auto [at, is_new] = last.try_emplace(process.world, Last{thread->second, net});
    if (is_new) continue;
    at->second.net.begin_ns = std::min(at->second.net.begin_ns, net.begin_ns);
    if (net.end_ns > at->second.net.end_ns) at->second = {thread->second, {at->second.net.begin_ns, net.end_ns}};
  }
  std::vector<PathPiece> path;
  for (const auto& [world, from] : last) {
    std::vector<PathPiece> of_world;
    walk(handovers, from.thread, from.net, of_world);
    path.insert(path.end(), of_world.rbegin(), of_world.rend());
  }
  return path;
}

Result<std::vector<PathSum>> path_profile(const Run& run, const std::vector<TracedThread>& threads,
                                          const std::vector<PathPiece>& path) {
  struct Of {
    std::vector<PathPiece> pieces;
    std::size_t next = 0;
    std::int64_t last_ns = INT64_MIN;
  };
  std::map<std::tuple<int, int, std::uint32_t>, std::size_t> numbers;
  std::vector<Of> of(threads.size());
  for (std::size_t i = 0; i < threads.size(); ++i) numbers[{threads[i].world, threads[i].rank, threads[i].thread}] = i;
  for (const PathPiece& piece : path) of[piece.thread].pieces.push_back(piece);

  using Key = std::tuple<std::size_t, std::int32_t, bool, std::uint16_t>;
  std::map<Key, std::int64_t> sums;
  // Adds the part of an interval of a thread that is on the path.
  const auto add = [&](std::size_t thread, std::int64_t begin_ns, std::int64_t end_ns, std::int32_t site, bool in_call,
                       std::uint16_t function) {
    Of& its = of[thread];
    while (its.next < its.pieces.size() && its.pieces[its.next].end_ns <= begin_ns) ++its.next;
    std::int64_t on_path = 0;
    for (std::size_t i = its.next; i < its.pieces.size() && its.pieces[i].begin_ns < end_ns; ++i)
      on_path =
          sum(on_path, difference(std::min(end_ns, its.pieces[i].end_ns), std::max(begin_ns, its.pieces[i].begin_ns)));
    if (on_path <= 0) return;
    std::int64_t& of_key = sums[{thread, site, in_call, function}];
    of_key = sum(of_key, on_path);
  };
  auto events = EventStream::open(run, {});
  if (!events) return events.failure();
  for (auto rows = events->next(); !rows.empty(); rows = events->next())
    for (const EventRow& row : rows) {
      if (row.kind != EventKind::call && row.kind != EventKind::loss) continue;
      const auto found = numbers.find({row.world, row.rank, row.thread});
      if (found == numbers.end()) continue;
      Of& its = of[found->second];
      if (its.pieces.empty()) continue;
      const std::int64_t leave_ns = sum(row.start_ns, row.duration_ns);
      const bool lacks_begin = (run.processes()[row.process].record.flags & format::overwrites) != 0;
      if (lacks_begin && its.last_ns == INT64_MIN) its.last_ns = row.start_ns;
      if (row.kind == EventKind::loss) {
        its.last_ns = std::max(its.last_ns, leave_ns);
        continue;
      }
      add(found->second, its.last_ns, row.start_ns, row.site, false, row.function);
      add(found->second, row.start_ns, leave_ns, row.site, true, row.function);
      its.last_ns = std::max(its.last_ns, leave_ns);
    }
  for (std::size_t i = 0; i < of.size(); ++i) add(i, of[i].last_ns, INT64_MAX, -1, false, FunctionNames::other);

  std::vector<PathSum> all;
  for (const auto& [key, time_ns] : sums) {
    const auto& [thread, site, in_call, function] = key;
    all.push_back({threads[thread].world, threads[thread].rank, {site, in_call}, function, time_ns});
  }
  std::sort(all.begin(), all.end(), [](const PathSum& a, const PathSum& b) { return a.time_ns > b.time_ns; });
  return all;
}

}  // namespace tare::reader
