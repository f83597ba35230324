#include "reader/structure/iterations.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "format/function_meaning.h"
#include "reader/parallel.h"
#include "reader/time_arithmetic.h"
#include "reader/waits/scheduled_times.h"

namespace tare::reader {
namespace {

// A slow iteration takes more than so many times as long as the third quartile. If a quarter of the iterations or more
// take long, as those of ranks that share a processor do, that is no exception: twice their median would be one.
constexpr std::int64_t slow_quartiles = 2;
// If this share of the iterations has more than twice or less than half of the median number of calls, it is no loop.
constexpr double irregular = 0.25;
// Numbers of calls within this factor count as equal. So a line that some iterations skip is not preferred to one that
// all iterations call.
constexpr double nearly_least = 1.1;

// What may begin iterations: all calls of a line, or the calls of a single call path.
struct Beginning {
  CalledLine line{};
  bool is_path = false;

  auto operator<=>(const Beginning&) const = default;  // NOLINT(modernize-use-nullptr)
};

// The ranks on which it may begin iterations, each with the number of calls in the phase.
struct Candidate {
  std::map<std::size_t, double> calls{};  // by index of the rank in its world
  std::int64_t first_ns = INT64_MAX;      // of the earliest call
};
using Candidates = std::map<Beginning, Candidate>;

// Adds the candidates of one rank: what is called often, over at least half of the phase.
void add_candidates(const DetectedPhase& phase, std::size_t rank, const std::vector<Stretch>& stretches,
                    const std::vector<CalledLine>& lines, bool are_paths, Candidates& to) {
  struct Sum {
    double calls = 0;
    std::int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
  };
  std::map<CalledLine, Sum> sums;
  for (const Stretch& each : stretches) {
    const std::int64_t from_ns = std::max(each.from_ns, phase.start_ns), to_ns = std::min(each.to_ns, phase.end_ns);
    if (each.is_before || from_ns > to_ns) continue;
    Sum& of = sums[lines[each.line]];
    const double length = static_cast<double>(difference(each.to_ns, each.from_ns));
    const double part = length > 0 ? static_cast<double>(difference(to_ns, from_ns)) / length : 1;
    of.calls += (part > 0.95 ? 1 : part) * static_cast<double>(each.calls);
    of.first_ns = std::min(of.first_ns, from_ns);
    of.last_ns = std::max(of.last_ns, to_ns);
  }
  const std::int64_t length_ns = difference(phase.end_ns, phase.start_ns);
  for (const auto& [line, of] : sums)
    if (of.calls > static_cast<double>(max_returns) && difference(of.last_ns, of.first_ns) >= length_ns / 2) {
      Candidate& candidate = to[{line, are_paths}];
      candidate.calls[rank] = of.calls;
      candidate.first_ns = std::min(candidate.first_ns, of.first_ns);
    }
}

double mean_calls(const Candidate& of) {
  double calls = 0;
  for (const auto& [rank, of_rank] : of.calls) calls += of_rank;
  return calls / static_cast<double>(of.calls.size());
}

// Chooses what begins the iterations of each rank, by index of the rank in its world. Repeatedly takes the candidate of
// the most ranks. If there are several, takes the one with the fewest calls; of those with nearly as few, the one that
// is called first.
std::map<std::size_t, Beginning> beginnings(const WorldStretches& of, const DetectedPhase& phase) {
  Candidates left;
  for (std::size_t rank = 0; rank < of.ranks.size(); ++rank) {
    add_candidates(phase, rank, of.stretches[rank], of.lines[rank].lines, false, left);
    add_candidates(phase, rank, of.paths[rank], of.lines[rank].paths, true, left);
  }
  std::map<std::size_t, Beginning> chosen;
  while (!left.empty()) {
    std::size_t max_ranks = 0;
    for (const auto& [beginning, of_ranks] : left) max_ranks = std::max(max_ranks, of_ranks.calls.size());
    double least = std::numeric_limits<double>::infinity();
    for (const auto& [beginning, of_ranks] : left)
      if (of_ranks.calls.size() == max_ranks) least = std::min(least, mean_calls(of_ranks));
    auto best = left.end();
    for (auto each = left.begin(); each != left.end(); ++each)
      if (each->second.calls.size() == max_ranks && mean_calls(each->second) <= least * nearly_least &&
          (best == left.end() || each->second.first_ns < best->second.first_ns))
        best = each;
    const std::map<std::size_t, double> ranks = best->second.calls;
    for (const auto& [rank, calls] : ranks) chosen[rank] = best->first;
    for (auto each = left.begin(); each != left.end();) {
      for (const auto& [rank, calls] : ranks) each->second.calls.erase(rank);
      each = each->second.calls.empty() ? left.erase(each) : std::next(each);
    }
  }
  return chosen;
}

// Where time is spent: in the calls of a line, or (true) outside MPI before them.
using Place = std::pair<CalledLine, bool>;

// One of the longest iterations, with its time by place.
struct Long {
  std::uint32_t number = 0;
  Iteration iteration{};
  std::map<Place, std::int64_t> time_ns{};
};

struct FoundLoop {
  Loop loop{};
  std::uint32_t process = 0;              // index in Run::processes()
  std::vector<Long> longest{};            // the longest first
  std::map<Place, std::int64_t> usual{};  // mean time by place in the other iterations
};

// Finds the iterations of one rank in one phase, call by call.
class LoopReader {
 public:
  LoopReader(const RankLines& lines, const Beginning& beginning)
      : lines_(lines.lines), paths_(lines.paths), beginning_(beginning) {
    found_.loop.line = beginning.line;
  }

  void add(const RankCall& call) {
    if (2 * lines_.size() > times_.size()) {
      times_.resize(2 * lines_.size());
      sums_.resize(2 * lines_.size());
    }
    const bool begins = (beginning_.is_path ? paths_[call.path] : lines_[call.line]) == beginning_.line;
    if (call.is_behind_gap) drop();
    if (begins) {
      if (is_open_) {
        count(2 * call.line + 1, call.before_ns);
        close(call.start_ns);
      }
      is_open_ = true;
      start_ns_ = call.start_ns;
    } else if (is_open_) {
      count(2 * call.line + 1, call.before_ns);
    }
    if (!is_open_) return;
    const std::int64_t in_call_ns = difference(call.end_ns, call.start_ns);
    count(2 * call.line, std::max<std::int64_t>(in_call_ns, 1));  // not 0: it has been called
    mpi_ns_ = sum(mpi_ns_, in_call_ns);
    calls_ += !format::meaning_of(lines_[call.line].function).is_poll;
    // The last iteration ends with the last call of a line that earlier iterations called, too. Calls after it are not
    // part of the loop.
    if (sums_[2 * call.line] > 0 || begins) {
      known_end_ns_ = call.end_ns;
      known_mpi_ns_ = mpi_ns_;
      known_calls_ = calls_;
    }
  }

  // False if these are no iterations of a loop.
  bool finish(FoundLoop& to) {
    if (is_open_) {
      mpi_ns_ = known_mpi_ns_;
      calls_ = known_calls_;
      close(known_end_ns_);
    }
    Loop& loop = found_.loop;
    if (loop.iterations <= max_returns) return false;
    const auto usual_calls = quartile_of<std::uint32_t>(2, [](const Iteration& each) { return each.calls; });
    const auto others_calls = std::count_if(loop.listed.begin(), loop.listed.end(), [&](const Iteration& each) {
      return each.calls > 2 * usual_calls || 2 * each.calls < usual_calls;
    });
    if (static_cast<double>(others_calls) >= irregular * static_cast<double>(loop.listed.size())) return false;
    const auto duration = [](const Iteration& each) { return each.duration_ns; };
    loop.median_ns = quartile_of<std::int64_t>(2, duration);
    third_quartile_ns_ = quartile_of<std::int64_t>(3, duration);
    const auto others = static_cast<double>(loop.iterations - found_.longest.size());
    for (const Iteration& each : loop.listed)
      if (is_slow(each.duration_ns)) {
        ++loop.slow_iterations;
        loop.beyond_ns = sum(loop.beyond_ns, difference(each.duration_ns, loop.median_ns));
      }
    loop.longest_ns = found_.longest.front().iteration.duration_ns;
    for (std::size_t place = 0; place < sums_.size(); ++place) {
      double usual = sums_[place];
      for (const Long& each : found_.longest)
        if (const auto at = each.time_ns.find(place_of(place)); at != each.time_ns.end())
          usual -= static_cast<double>(at->second);
      if (others > 0) found_.usual[place_of(place)] = rounded_ns(usual / others);
    }
    std::erase_if(found_.longest, [&](const Long& each) { return !is_slow(each.iteration.duration_ns); });
    to = std::move(found_);
    return true;
  }

 private:
  template <typename T, typename Of>
  T quartile_of(std::size_t quartile, const Of& of) const {
    std::vector<T> values;
    for (const Iteration& each : found_.loop.listed) values.push_back(of(each));
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(quartile * values.size() / 4);
    std::nth_element(values.begin(), at, values.end());
    return *at;
  }
  bool is_slow(std::int64_t duration_ns) const { return duration_ns / slow_quartiles > third_quartile_ns_; }
  Place place_of(std::size_t place) const { return {lines_[place / 2], place % 2 == 0}; }

  void count(std::size_t place, std::int64_t time_ns) {
    if (time_ns <= 0) return;
    if (times_[place] == 0) touched_.push_back(place);
    times_[place] = sum(times_[place], time_ns);
  }
  void drop() {
    found_.loop.has_gaps = true;
    is_open_ = false;
    clear();
  }
  void clear() {
    for (const std::size_t place : touched_) times_[place] = 0;
    touched_.clear();
    mpi_ns_ = 0;
    calls_ = 0;
  }
  void close(std::int64_t end_ns) {
    Loop& loop = found_.loop;
    const Iteration done{start_ns_, std::max<std::int64_t>(difference(end_ns, start_ns_), 0), mpi_ns_, calls_};
    const auto number = static_cast<std::uint32_t>(loop.iterations++);
    if (loop.listed.size() < max_iterations) loop.listed.push_back(done);
    for (const std::size_t place : touched_) sums_[place] += static_cast<double>(times_[place]);
    std::vector<Long>& longest = found_.longest;
    if (longest.size() < max_slow || done.duration_ns > longest.back().iteration.duration_ns) {
      Long kept{number, done, {}};
      for (const std::size_t place : touched_) kept.time_ns[place_of(place)] += times_[place];
      const auto at = std::find_if(longest.begin(), longest.end(),
                                   [&](const Long& each) { return each.iteration.duration_ns < done.duration_ns; });
      longest.insert(at, std::move(kept));
      if (longest.size() > max_slow) longest.pop_back();
    }
    clear();
  }

  const std::vector<CalledLine>&lines_, &paths_;
  Beginning beginning_;
  FoundLoop found_;
  bool is_open_ = false;
  std::int64_t start_ns_ = 0, mpi_ns_ = 0, known_end_ns_ = 0, known_mpi_ns_ = 0, third_quartile_ns_ = 0;
  std::uint32_t calls_ = 0, known_calls_ = 0;
  std::vector<std::int64_t> times_;   // of this iteration: in the calls of each line, and before them
  std::vector<std::size_t> touched_;  // of them
  std::vector<double> sums_;          // of all iterations
};

// The place whose time exceeds the usual time the most, and by how much.
std::pair<Place, std::int64_t> excess(const FoundLoop& of, const Long& iteration, bool outside_only) {
  std::pair<Place, std::int64_t> most{{}, 0};
  for (const auto& [place, time_ns] : iteration.time_ns) {
    const auto usual = of.usual.find(place);
    const std::int64_t more_ns = difference(time_ns, usual == of.usual.end() ? 0 : usual->second);
    if (more_ns > most.second && !(outside_only && place.second)) most = {place, more_ns};
  }
  return most;
}

// Finds the cause of a slow iteration. A rank that computes longer makes the others wait. So the cause is the
// computation of any rank that exceeds the usual time the most, if it explains half of the excess. Where the calls that
// begin the iterations are what waits, it is the computation before them, which is in the iteration before.
SlowIteration explained(const Long& slow, const FoundLoop& own, const std::vector<FoundLoop*>& all,
                        const ScheduledTimes& scheduled) {
  const bool by_number = !own.loop.has_gaps;
  SlowIteration of{slow.number, slow.iteration};
  auto most = excess(own, slow, false);
  const FoundLoop* cause = &own;
  std::int64_t computed_ns = difference(slow.iteration.duration_ns, own.loop.median_ns) / 2;
  const std::int64_t end_ns = slow.iteration.end_ns();
  const bool waits_at_begin = most.first == Place{own.loop.line, true};
  for (const FoundLoop* other : all)
    for (const Long& each : other->longest) {
      const bool is_same = by_number ? each.number == slow.number : each.iteration.is_beside(slow.iteration);
      const bool is_before = waits_at_begin && (by_number ? each.number + 1 == slow.number
                                                          : each.iteration.start_ns < slow.iteration.start_ns);
      if (!(is_same || is_before) || each.iteration.start_ns >= end_ns ||
          each.iteration.end_ns() <= slow.iteration.start_ns)
        continue;
      const auto outside = excess(*other, each, true);
      if (outside.second < computed_ns || (!is_same && outside.first != Place{own.loop.line, false})) continue;
      computed_ns = outside.second;
      most = outside;
      cause = other;
    }
  of.cause_rank = cause->loop.rank;
  of.cause = most.first.first;
  of.is_in_call = most.first.second;
  of.cause_ns = most.second;
  const auto off = of.is_in_call ? &ScheduledTimes::in_call : &ScheduledTimes::outside;
  of.cause_off = (scheduled.*off)(cause->process, cause->loop.thread, slow.iteration.start_ns, end_ns);
  return of;
}

std::vector<std::pair<std::uint32_t, FoundLoop>> read_loops(
    const RankCalls& calls, std::size_t rank, const std::vector<DetectedPhase>& phases,
    const std::map<std::uint32_t, Beginning>& beginnings_of_phases) {
  std::vector<std::pair<std::uint32_t, FoundLoop>> loops;
  RankLines lines;
  std::map<std::uint32_t, LoopReader> readers;
  for (const auto& [phase, beginning] : beginnings_of_phases) readers.try_emplace(phase, lines, beginning);
  std::size_t phase = 0;
  calls.read(rank, lines, [&](std::span<const RankCall> some) {
    for (const RankCall& call : some) {
      while (phase + 1 < phases.size() && call.start_ns >= phases[phase].end_ns) ++phase;
      const auto reader = readers.find(static_cast<std::uint32_t>(phase));
      if (reader != readers.end() && !call.is_outside) reader->second.add(call);
    }
  });
  for (auto& [number, reader] : readers)
    if (FoundLoop found; reader.finish(found)) loops.emplace_back(number, std::move(found));
  return loops;
}

std::vector<Loop> loops_of(const Run& run, const RankCalls& calls, const WorldStretches& of,
                           const std::vector<DetectedPhase>& phases, const ScheduledTimes& scheduled) {
  std::vector<std::map<std::uint32_t, Beginning>> begin_with(of.ranks.size());  // by rank and phase
  bool has_any = false;
  for (const DetectedPhase& phase : phases)
    for (const auto& [rank, beginning] : beginnings(of, phase)) {
      begin_with[rank][phase.number] = beginning;
      has_any = true;
    }
  if (!has_any) return {};
  std::vector<std::vector<std::pair<std::uint32_t, FoundLoop>>> found(of.ranks.size());
  parallel(of.ranks.size(), threads_for(of.ranks.size(), 1), [&](unsigned, std::size_t rank) {
    if (!begin_with[rank].empty()) found[rank] = read_loops(calls, of.ranks[rank], phases, begin_with[rank]);
  });
  std::map<std::pair<std::uint32_t, CalledLine>, std::vector<FoundLoop*>> together;
  for (std::size_t rank = 0; rank < found.size(); ++rank)
    for (auto& [phase, each] : found[rank]) {
      const Process* process = calls.ranks()[of.ranks[rank]].process;
      each.process = static_cast<std::uint32_t>(process - run.processes().data());
      each.loop.world = of.world;
      each.loop.rank = static_cast<std::int32_t>(process->record.rank);
      each.loop.thread = calls.ranks()[of.ranks[rank]].thread;
      each.loop.phase = phase;
      together[{phase, each.loop.line}].push_back(&each);
    }
  for (const auto& [line, all] : together)
    if (std::any_of(all.begin(), all.end(), [](const FoundLoop* each) { return each->loop.has_gaps; }))
      for (FoundLoop* each : all) each->loop.has_gaps = true;
  std::vector<Loop> loops;
  for (const auto& of_rank : found)
    for (const auto& [phase, each] : of_rank) {
      Loop loop = each.loop;
      for (const Long& slow : each.longest)
        loop.slow.push_back(explained(slow, each, together[{phase, loop.line}], scheduled));
      std::sort(loop.slow.begin(), loop.slow.end(),
                [](const SlowIteration& a, const SlowIteration& b) { return a.number < b.number; });
      loops.push_back(std::move(loop));
    }
  std::sort(loops.begin(), loops.end(),
            [](const Loop& a, const Loop& b) { return std::tie(a.phase, a.rank) < std::tie(b.phase, b.rank); });
  return loops;
}

}  // namespace

Result<RunStructure> run_structure(Run& run) {
  auto calls = RankCalls::of(run);
  if (!calls) return calls.failure();
  RunStructure structure;
  const ScheduledTimes scheduled(run);
  for (const WorldStretches& world : stretches_of(*calls)) {
    const std::vector<DetectedPhase> phases = detected_phases(world);
    for (Loop& loop : loops_of(run, *calls, world, phases, scheduled)) structure.loops.push_back(std::move(loop));
    structure.phases.insert(structure.phases.end(), phases.begin(), phases.end());
  }
  return structure;
}

}  // namespace tare::reader
