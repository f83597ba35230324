#include "reader/retiming/clock_correction.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "reader/events/event_stream.h"
#include "reader/matching/matcher.h"
#include "reader/time_arithmetic.h"

namespace tare::reader {
namespace {

constexpr unsigned max_rounds = 32;

// A call whose end is moved to a later time, together with what follows.
struct Jump {
  std::int64_t enter_ns, leave_ns;  // as recorded
  std::int64_t offset_ns;           // by how much the end moves
};

// At each time, the map has the largest of the offsets that the jumps require. Offsets decrease with time.
TimeMap map_of(std::vector<Jump> jumps) {
  std::sort(jumps.begin(), jumps.end(), [](const Jump& a, const Jump& b) { return a.leave_ns < b.leave_ns; });
  TimeMap map;
  std::int64_t at_ns = 0, offset_ns = 0;
  const auto fade_until = [&](std::int64_t ns) {
    if (offset_ns == 0) return;
    const double lasts_ns = static_cast<double>(offset_ns) / ClockCorrection::fading;
    const double passed_ns = static_cast<double>(difference(ns, at_ns));
    if (passed_ns >= lasts_ns) {
      at_ns = sum(at_ns, static_cast<std::int64_t>(lasts_ns));
      offset_ns = 0;
      map.add(at_ns, 0);
    } else if (passed_ns > 0) {
      offset_ns -= static_cast<std::int64_t>(passed_ns * ClockCorrection::fading);
      at_ns = ns;
    }
  };
  for (const Jump& jump : jumps) {
    fade_until(std::max(jump.enter_ns, at_ns));
    const std::int64_t before_ns = offset_ns, enter_ns = std::max(jump.enter_ns, at_ns);
    fade_until(jump.leave_ns);
    if (jump.offset_ns <= offset_ns) continue;
    map.add(enter_ns, before_ns);
    map.add(jump.leave_ns, jump.offset_ns);
    at_ns = jump.leave_ns;
    offset_ns = jump.offset_ns;
  }
  fade_until(INT64_MAX);
  return map;
}

class Corrector {
 public:
  explicit Corrector(Run& run) : run_(run), jumps_(run.processes().size()), maps_(run.processes().size()) {
    for (std::size_t i = 0; i < run.processes().size(); ++i) {
      const Process& process = run.processes()[i];
      if (process.record.rank >= 0) by_rank_.try_emplace({process.world, process.record.rank}, i);
    }
  }

  Result<std::vector<Violations>> find() {
    if (std::string error = read(true); !error.empty()) return Failure{std::move(error)};
    return sorted();
  }

  Result<ClockCorrection> correct() {
    for (; done_.rounds < max_rounds; done_.rounds += 1) {
      if (std::string error = read(done_.rounds == 0); !error.empty()) return Failure{std::move(error)};
      if (done_.remaining == 0) break;
      move();
    }
    for (const auto& map : maps_)
      for (const TimeMap::Knot& knot : map ? map->process.knots() : std::vector<TimeMap::Knot>{})
        done_.max_moved_ns = std::max(done_.max_moved_ns, knot.offset_ns);
    done_.violations = sorted();
    done_.maps = maps_;
    done_.rounds += 1;
    return std::move(done_);
  }

 private:
  std::vector<Violations> sorted() const {
    std::vector<Violations> all;
    for (const auto& [key, of] : violations_) all.push_back(of);
    std::stable_sort(all.begin(), all.end(),
                     [](const Violations& a, const Violations& b) { return a.most_ns > b.most_ns; });
    return all;
  }

  std::string read(bool is_first) {
    auto events = EventStream::open(run_, {.lists_all_requests = true});
    if (!events) return events.error();
    Matcher matcher(run_, {.matches = false, .ends = true});
    done_.remaining = 0;
    for (auto rows = events->next(); !rows.empty(); rows = events->next()) {
      for (const EventRow& row : rows) matcher.add(row);
      for (const End& end : matcher.ends()) add(end, is_first);
      matcher.ends().clear();
    }
    if (is_first) {
      done_.warnings = events->warnings();
      for (std::string& line : matcher.warnings()) done_.warnings.push_back(std::move(line));
    }
    return {};
  }

  void add(const End& end, bool is_first) {
    if (end.kind == End::Kind::sent || end.completed.leave_ns >= end.other.enter_ns) return;
    const auto process = by_rank_.find({end.world, end.rank});
    if (process == by_rank_.end() || end.rank == end.other_rank) return;
    ++done_.remaining;
    const std::int64_t missing_ns = difference(end.other.enter_ns, end.completed.leave_ns);
    if (is_first) {
      Violations& of = violations_[{end.world, end.rank, end.other_rank}];
      of.world = end.world;
      of.rank = end.rank;
      of.other_rank = end.other_rank;
      ++(end.kind == End::Kind::collective ? of.collectives : of.messages);
      of.most_ns = std::max(of.most_ns, missing_ns);
    }
    const TimeMap map = maps_[process->second] ? maps_[process->second]->process : TimeMap();
    const std::int64_t leave_ns = map.inverse(end.completed.leave_ns);
    jumps_[process->second].push_back({std::min(map.inverse(end.completed.enter_ns), leave_ns), leave_ns,
                                       difference(sum(end.completed.leave_ns, missing_ns), leave_ns)});
  }

  void move() {
    for (std::size_t i = 0; i < jumps_.size(); ++i) {
      if (jumps_[i].empty()) continue;
      auto map = std::make_shared<TimeMaps>();
      map->process = map_of(jumps_[i]);
      maps_[i] = std::move(map);
    }
    run_.move_times(maps_);
  }

  Run& run_;
  std::map<std::pair<std::int32_t, std::int32_t>, std::size_t> by_rank_;  // index in Run::processes()
  std::vector<std::vector<Jump>> jumps_;                                  // by process
  std::vector<std::shared_ptr<const TimeMaps>> maps_;
  std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t>, Violations> violations_;
  ClockCorrection done_;
};

}  // namespace

Result<std::vector<Violations>> clock_violations(Run& run) { return Corrector(run).find(); }

Result<ClockCorrection> correct_clocks(Run& run) {
  run.move_times({});
  return Corrector(run).correct();
}

}  // namespace tare::reader
