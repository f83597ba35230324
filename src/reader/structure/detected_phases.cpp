#include "reader/structure/detected_phases.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "reader/parallel.h"
#include "reader/structure/change_points.h"
#include "reader/time_arithmetic.h"

namespace tare::reader {
namespace {

constexpr std::size_t windows = 512;
// The cost of a part: that of two windows that have nothing in common with the rest.
constexpr double penalty = 4;
// Phases with a smaller distance are of the same kind. At most a fifth of their time is then in different lines.
constexpr double alike = 0.1;
// A pause of a line can divide its calls if it lasts at least 1 / 200 of the run.
constexpr std::int64_t shortest_part = 200;
// A slow iteration makes at most this share of the usual calls per second.
constexpr double slow_rate = 0.5;
// Only the features with the most time are distinguished. All others count as one.
constexpr std::size_t max_features = 1000;

// A line, or (true) a long time outside MPI before the calls of a line.
using Feature = std::pair<CalledLine, bool>;

struct Segment {
  std::size_t from = 0, to = 0;  // windows
  Shares time{};
  Shares usual{};  // without that of slow iterations, by which phases do not differ
};

class Windows {
 public:
  explicit Windows(const WorldStretches& of) : of_(of) {
    for (const auto& rank : of.stretches)
      for (const Stretch& each : rank) {
        from_ns = std::min(from_ns, each.from_ns);
        to_ns = std::max(to_ns, each.to_ns);
      }
    to_ns = std::max(to_ns, sum(from_ns, 1));
    choose();
    time.assign(windows, Shares(features.size()));
    mpi.assign(windows, 0);
    each([this](const Stretch& stretch, std::size_t feature) { spread(stretch, feature); });
    // A window about which nothing is known is taken to be like the one before.
    for (std::size_t w = 1; w < windows; ++w)
      if (std::all_of(time[w].begin(), time[w].end(), [](double share) { return share <= 0; })) {
        time[w] = time[w - 1];
        mpi[w] = mpi[w - 1];
      }
  }

  double width_ns() const { return static_cast<double>(difference(to_ns, from_ns)) / windows; }
  std::int64_t begin_ns(std::size_t window) const {
    return sum(from_ns, rounded_ns(static_cast<double>(window) * width_ns()));
  }

  template <typename Visit>
  void each(const Visit& visit) const {
    for (std::size_t r = 0; r < of_.stretches.size(); ++r)
      for (std::size_t i = 0; i < of_.stretches[r].size(); ++i) visit(of_.stretches[r][i], feature_of_[r][i]);
  }

  std::int64_t from_ns = INT64_MAX, to_ns = INT64_MIN;
  std::vector<Feature> features;  // the last one is for all others
  std::vector<Shares> time;       // by window and feature, in ns, summed over the ranks
  std::vector<double> mpi;        // by window: time in MPI in ns

 private:
  void choose() {
    std::map<Feature, double> sums;
    for (std::size_t r = 0; r < of_.stretches.size(); ++r)
      for (const Stretch& stretch : of_.stretches[r])
        sums[{of_.lines[r].lines[stretch.line], stretch.is_before}] += static_cast<double>(stretch.time_ns);
    std::vector<std::pair<double, Feature>> largest;
    largest.reserve(sums.size());
    for (const auto& [feature, time_ns] : sums) largest.emplace_back(-time_ns, feature);
    std::sort(largest.begin(), largest.end());
    largest.resize(std::min(largest.size(), max_features));
    std::map<Feature, std::size_t> numbers;
    for (const auto& [time_ns, feature] : largest) {
      numbers[feature] = features.size();
      features.push_back(feature);
    }
    features.emplace_back();
    for (std::size_t r = 0; r < of_.stretches.size(); ++r) {
      std::vector<std::size_t>& of_rank = feature_of_.emplace_back();
      for (const Stretch& stretch : of_.stretches[r]) {
        const auto known = numbers.find({of_.lines[r].lines[stretch.line], stretch.is_before});
        of_rank.push_back(known == numbers.end() ? features.size() - 1 : known->second);
      }
    }
  }

  void spread(const Stretch& stretch, std::size_t feature) {
    const double width = width_ns();
    const double from = static_cast<double>(difference(stretch.from_ns, from_ns)) / width;
    const double to = std::max(static_cast<double>(difference(stretch.to_ns, from_ns)) / width, from + 1e-9);
    for (auto w = static_cast<std::size_t>(from); w < windows && static_cast<double>(w) < to; ++w) {
      const double overlap =
          (std::min(to, static_cast<double>(w + 1)) - std::max(from, static_cast<double>(w))) / (to - from);
      time[w][feature] += overlap * static_cast<double>(stretch.time_ns);
      mpi[w] += overlap * static_cast<double>(stretch.mpi_ns);
    }
  }

  const WorldStretches& of_;
  std::vector<std::vector<std::size_t>> feature_of_;  // by rank and stretch: index in `features`
};

void add(Segment& to, const Segment& other) {
  to.from = std::min(to.from, other.from);
  to.to = std::max(to.to, other.to);
  for (std::size_t i = 0; i < to.time.size(); ++i) {
    to.time[i] += other.time[i];
    to.usual[i] += other.usual[i];
  }
}

// Which features occur in a segment. Windows at its ends are ignored, because they may contain a part of the
// neighbours.
std::vector<bool> occurring(const Windows& of, const Segment& segment) {
  const std::size_t edge = std::min<std::size_t>(2, (segment.to - segment.from) / 3);
  std::vector<bool> result(of.features.size());
  for (std::size_t w = segment.from + edge; w < segment.to - edge; ++w)
    for (std::size_t f = 0; f < result.size(); ++f) result[f] = result[f] || of.time[w][f] > 0;
  return result;
}

// Whether 90 % of the time of a segment belongs to lines that are also called in a neighbour.
bool has_nothing_new(const Windows& of, const Segment& segment, const Segment& neighbour) {
  const std::vector<bool> occurs = occurring(of, neighbour);
  std::set<CalledLine> called;
  for (std::size_t f = 0; f < of.features.size(); ++f)
    if (occurs[f] && !of.features[f].second) called.insert(of.features[f].first);
  double known = 0, all = 0;
  for (std::size_t f = 0; f < of.features.size(); ++f) {
    all += segment.time[f];
    if (called.contains(of.features[f].first)) known += segment.time[f];
  }
  return known >= 0.9 * all;
}

// Whether a segment consists of one or several slow iterations of the loop before: it has far fewer calls per second.
bool is_slow_part(const Windows& of, const CallStarts& starts, const Segment& segment, const Segment& before) {
  const auto rate = [&](const Segment& each) { return starts.rate(of.begin_ns(each.from), of.begin_ns(each.to)); };
  return rate(segment) <= slow_rate * rate(before) && has_nothing_new(of, segment, before);
}

// Whether a segment is the first or the last iteration of a loop, or a part of one. Some lines may occur in the other
// iterations alone.
bool is_end_of_loop(const Windows& of, const Segment& segment, const Segment& loop) {
  std::int64_t interval_ns = 0;
  of.each([&](const Stretch& stretch, std::size_t) {
    const std::int64_t from_ns = std::max(stretch.from_ns, of.begin_ns(loop.from));
    const std::int64_t to_ns = std::min(stretch.to_ns, of.begin_ns(loop.to));
    if (difference(to_ns, from_ns) >= difference(of.begin_ns(loop.to), of.begin_ns(loop.from)) / 2)
      interval_ns = std::max(interval_ns, stretch.interval_ns());
  });
  return difference(of.begin_ns(segment.to), of.begin_ns(segment.from)) <= usual_pauses * interval_ns &&
         has_nothing_new(of, segment, loop);
}

std::vector<Segment> segments_of(const Windows& of, const CallStarts& starts) {
  std::vector<Segment> segments;
  const std::vector<std::size_t> begins = change_points(of.time, penalty);
  for (std::size_t i = 0; i < begins.size(); ++i) {
    Segment segment{begins[i], i + 1 < begins.size() ? begins[i + 1] : windows, Shares(of.features.size()), {}};
    for (std::size_t w = segment.from; w < segment.to; ++w)
      for (std::size_t f = 0; f < segment.time.size(); ++f) segment.time[f] += of.time[w][f];
    segment.usual = segment.time;
    segments.push_back(std::move(segment));
  }
  const auto join = [&](std::size_t first) {
    add(segments[first], segments[first + 1]);
    segments.erase(segments.begin() + static_cast<std::ptrdiff_t>(first) + 1);
  };
  for (std::size_t i = 1; i + 1 < segments.size();)
    if (distance(segments[i - 1].usual, segments[i + 1].usual) < alike &&
        is_slow_part(of, starts, segments[i], segments[i - 1])) {
      std::fill(segments[i].usual.begin(), segments[i].usual.end(), 0);
      join(i);
      join(i - 1);
    } else {
      ++i;
    }
  for (std::size_t i = 0; i + 1 < segments.size();)
    if (is_end_of_loop(of, segments[i], segments[i + 1]) || is_end_of_loop(of, segments[i + 1], segments[i])) {
      join(i);
      i -= i > 0;
    } else {
      ++i;
    }
  while (segments.size() > 1) {
    std::size_t nearest = 0;
    double least = 1;
    for (std::size_t i = 0; i + 1 < segments.size(); ++i)
      if (const double far = distance(segments[i].usual, segments[i + 1].usual); far < least) {
        least = far;
        nearest = i;
      }
    if (least >= alike) break;
    join(nearest);
  }
  return segments;
}

// The time at which the second segment begins. It is the begin of the first stretch, near the boundary of the windows,
// of a feature of which the second segment has more than the first. If there is none, it is the end of the last stretch
// of a feature of which the first segment has more.
std::int64_t boundary_ns(const Windows& of, const Segment& first, const Segment& second) {
  const std::int64_t middle_ns = of.begin_ns(second.from);
  const auto reach_ns = rounded_ns(1.5 * of.width_ns());
  const auto share = [](const Segment& segment, std::size_t feature) {
    double all = 0;
    for (const double each : segment.time) all += each;
    return all > 0 ? segment.time[feature] / all : 0.0;
  };
  std::vector<double> more(of.features.size());
  constexpr double enough = 0.05;
  const std::vector<bool> before = occurring(of, first), after = occurring(of, second);
  for (std::size_t f = 0; f < more.size(); ++f) {
    more[f] = share(second, f) - share(first, f);
    if (before[f] != after[f]) more[f] = after[f] ? enough : -enough;
  }
  std::int64_t begin_ns = INT64_MAX, end_ns = INT64_MIN;
  const auto is_near = [&](std::int64_t time_ns) {
    return difference(time_ns, middle_ns) <= reach_ns && difference(middle_ns, time_ns) <= reach_ns;
  };
  of.each([&](const Stretch& stretch, std::size_t feature) {
    if (more[feature] >= enough && is_near(stretch.from_ns)) begin_ns = std::min(begin_ns, stretch.from_ns);
    if (more[feature] <= -enough && is_near(stretch.to_ns)) end_ns = std::max(end_ns, stretch.to_ns);
  });
  return begin_ns != INT64_MAX ? begin_ns : end_ns != INT64_MIN ? end_ns : middle_ns;
}

// The stretches of a rank. The first one begins at the end of MPI_Init. The time before MPI_Finalize is a stretch, too,
// unless it is short.
std::vector<Stretch> stretches_of_rank(const RankCalls& calls, std::size_t rank, RankLines& lines, CallStarts& starts,
                                       std::vector<Stretch>& of_paths) {
  const Process& process = *calls.ranks()[rank].process;
  const std::int64_t life_ns =
      difference(process.clock.unix_ns(process.end), process.clock.unix_ns(process.record.clock_start.ticks));
  std::vector<Repeats> repeats, paths;
  std::vector<Stretch> result, outside;
  calls.read(rank, lines, [&](std::span<const RankCall> some) {
    repeats.resize(lines.lines.size());
    paths.resize(lines.paths.size());
    for (const RankCall& call : some)
      if (!call.is_outside) {
        repeats[call.line].add(call);
        paths[call.path].add(call);
        starts.add(call.start_ns);
      } else if (call.before_ns > 0) {
        outside.push_back(
            {difference(call.start_ns, call.before_ns), call.start_ns, call.before_ns, 0, 0, call.line, true});
      }
  });
  for (std::size_t line = 0; line < repeats.size(); ++line)
    repeats[line].stretches(static_cast<std::uint32_t>(line), life_ns / shortest_part, result);
  for (std::size_t path = 0; path < paths.size(); ++path)
    paths[path].stretches(static_cast<std::uint32_t>(path), life_ns / shortest_part, of_paths);
  // The time that a loop computes after its last call is no phase.
  std::int64_t interval_ns = 0;
  for (const Stretch& each : result) interval_ns = std::max(interval_ns, each.interval_ns());
  for (const Stretch& each : outside)
    if (each.time_ns > usual_pauses * interval_ns) result.push_back(each);
  return result;
}

}  // namespace

std::string phase_name(std::uint32_t kind) {
  std::string name;
  for (std::uint64_t left = std::uint64_t{kind} + 1; left > 0; left = (left - 1) / 26)
    name.insert(name.begin(), static_cast<char>('A' + (left - 1) % 26));
  return name;
}

void CallStarts::add(std::int64_t time_ns) {
  const double part = static_cast<double>(difference(time_ns, from_ns)) /
                      static_cast<double>(std::max<std::int64_t>(difference(to_ns, from_ns), 1));
  ++counts[static_cast<std::size_t>(std::clamp(part * bins, 0.0, static_cast<double>(bins - 1)))];
}

double CallStarts::rate(std::int64_t begin_ns, std::int64_t end_ns) const {
  const double width = static_cast<double>(std::max<std::int64_t>(difference(to_ns, from_ns), 1)) / bins;
  const double from = static_cast<double>(difference(begin_ns, from_ns)) / width;
  const double to = static_cast<double>(difference(end_ns, from_ns)) / width;
  double calls = 0;
  for (std::size_t bin = 0; bin < bins; ++bin) {
    const double overlap = std::min(to, static_cast<double>(bin + 1)) - std::max(from, static_cast<double>(bin));
    if (overlap > 0) calls += std::min(overlap, 1.0) * static_cast<double>(counts[bin]);
  }
  return to > from ? calls / (to - from) / width * 1e9 : 0;
}

std::vector<WorldStretches> stretches_of(const RankCalls& calls) {
  const std::size_t count = calls.ranks().size();
  std::vector<RankLines> lines(count);
  std::vector<std::vector<Stretch>> stretches(count), paths(count);
  std::map<std::int32_t, CallStarts> starts;
  for (const RankCalls::Rank& rank : calls.ranks()) {
    const Process& process = *rank.process;
    const std::int64_t begin_ns = process.clock.unix_ns(process.record.clock_start.ticks);
    const std::int64_t end_ns = process.clock.unix_ns(process.end);
    CallStarts& of = starts.try_emplace(process.world, CallStarts{begin_ns, end_ns}).first->second;
    of.from_ns = std::min(of.from_ns, begin_ns);
    of.to_ns = std::max(of.to_ns, end_ns);
  }
  std::mutex lock;
  parallel(count, threads_for(count, 1), [&](unsigned, std::size_t rank) {
    CallStarts& of_world = starts.at(calls.ranks()[rank].process->world);
    CallStarts own{of_world.from_ns, of_world.to_ns};
    stretches[rank] = stretches_of_rank(calls, rank, lines[rank], own, paths[rank]);
    const std::scoped_lock locked(lock);
    for (std::size_t bin = 0; bin < CallStarts::bins; ++bin) of_world.counts[bin] += own.counts[bin];
  });
  std::vector<WorldStretches> worlds;
  for (std::size_t rank = 0; rank < count; ++rank) {
    const std::int32_t world = calls.ranks()[rank].process->world;
    auto of = std::find_if(worlds.begin(), worlds.end(), [&](const auto& each) { return each.world == world; });
    if (of == worlds.end()) {
      of = worlds.insert(of, WorldStretches{world});
      of->starts = starts.at(world);
    }
    of->ranks.push_back(rank);
    of->lines.push_back(std::move(lines[rank]));
    of->stretches.push_back(std::move(stretches[rank]));
    of->paths.push_back(std::move(paths[rank]));
  }
  return worlds;
}

std::vector<DetectedPhase> detected_phases(const WorldStretches& of) {
  if (std::all_of(of.stretches.begin(), of.stretches.end(), [](const auto& rank) { return rank.empty(); })) return {};
  const Windows all(of);
  const std::vector<Segment> segments = segments_of(all, of.starts);
  std::vector<Shares> shares;
  shares.reserve(segments.size());
  for (const Segment& segment : segments) shares.push_back(segment.usual);
  const std::vector<std::size_t> kind_of = kinds(shares, alike);
  std::vector<DetectedPhase> phases;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const Segment& segment = segments[i];
    DetectedPhase phase;
    phase.world = of.world;
    phase.number = static_cast<std::uint32_t>(i);
    phase.kind = static_cast<std::uint32_t>(kind_of[i]);
    phase.start_ns =
        i == 0 ? all.from_ns : std::max(phases.back().start_ns, boundary_ns(all, segments[i - 1], segment));
    phase.end_ns = all.to_ns;
    if (i > 0) phases.back().end_ns = phase.start_ns;
    double time = 0, mpi = 0;
    for (const double each : segment.time) time += each;
    for (std::size_t w = segment.from; w < segment.to; ++w) mpi += all.mpi[w];
    const auto most =
        static_cast<std::size_t>(std::max_element(segment.time.begin(), segment.time.end()) - segment.time.begin());
    phase.mpi_share = time > 0 ? mpi / time : 0;
    phase.line = all.features[most].first;
    phase.is_before = all.features[most].second;
    phase.line_share = time > 0 ? segment.time[most] / time : 0;
    phases.push_back(phase);
  }
  return phases;
}

}  // namespace tare::reader
