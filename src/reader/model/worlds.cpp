#include "reader/model/worlds.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>

namespace tare::reader {
namespace {

using namespace tare::format;

bool is_spawned(const Process& process) { return (process.record.flags & spawned) != 0; }

// What is common to the processes of a world: whether they are spawned, its size, and what tells it from others of its
// size (find_jobs), if anything does.
using Kind = std::tuple<bool, std::int32_t, std::string>;

struct KnownWorld {
  std::size_t number;
  std::int64_t begin_ns = INT64_MAX, end_ns = INT64_MIN;
};
using KnownWorlds = std::map<Kind, std::vector<KnownWorld>>;  // in the order of their begin

// When its records show last that it ran.
std::int64_t last_ns(const Process& process) {
  const bool is_known = (process.record.flags & ended_with_command) == 0;
  return process.clock.unix_ns(is_known ? process.end : last_evidence(process));
}

// Tells jobs of one size that ran at the same time apart: if the processes of an executable, or of an executable on a
// host, have each rank as often as the others, they are whole jobs. Of a job of several executables none is.
void find_jobs(std::span<Process* const> together, std::map<const Process*, std::string>& jobs) {
  for (const bool by_host : {false, true}) {
    std::map<std::string, std::map<std::int32_t, std::size_t>> found;  // by rank: number of processes
    const auto job_of = [by_host](const Process& process) {
      return process.record.executable + (by_host ? '\n' + std::string(process.record.host) : "");
    };
    for (const Process* process : together) ++found[job_of(*process)][process->record.rank];
    std::erase_if(found, [&](const auto& job) {
      const auto& ranks = job.second;
      return !std::cmp_equal(ranks.size(), together.front()->record.size) ||
             std::any_of(ranks.begin(), ranks.end(),
                         [&](const auto& rank) { return rank.second != ranks.begin()->second; });
    });
    for (const Process* process : together)
      if (std::string job = job_of(*process); found.contains(job)) jobs[process] = std::move(job);
  }
}

// `processes` are in the order of their start.
std::map<const Process*, std::string> find_jobs(const std::vector<Process*>& processes) {
  std::map<const Process*, std::string> jobs;
  std::map<std::pair<bool, std::int32_t>, std::vector<Process*>> together;
  std::map<std::pair<bool, std::int32_t>, std::int64_t> until_ns;
  for (Process* process : processes) {
    if (process->record.rank < 0) continue;
    const std::pair key{is_spawned(*process), process->record.size};
    std::vector<Process*>& of = together[key];
    if (!of.empty() && process->clock.unix_ns(process->record.clock_start.ticks) > until_ns[key]) {
      find_jobs(of, jobs);
      of.clear();
    }
    until_ns[key] = of.empty() ? last_ns(*process) : std::max(until_ns[key], last_ns(*process));
    of.push_back(process);
  }
  for (const auto& [key, of] : together) find_jobs(of, jobs);
  return jobs;
}

// The numbers of worlds that nothing tells apart from another one of that time.
std::set<std::size_t> mixed_worlds(const KnownWorlds& known) {
  std::set<std::size_t> mixed;
  for (const auto& [kind, worlds] : known) {
    KnownWorld last = worlds.front();  // of those so far, the one that ends last
    for (std::size_t i = 1; i < worlds.size() && std::get<std::int32_t>(kind) > 1; ++i) {
      if (worlds[i].begin_ns <= last.end_ns) mixed.insert({worlds[i].number, last.number});
      if (worlds[i].end_ns > last.end_ns) last = worlds[i];
    }
  }
  return mixed;
}

}  // namespace

std::string find_worlds(std::vector<Process*>& processes) {
  std::sort(processes.begin(), processes.end(), [](const Process* a, const Process* b) {
    return std::tuple(is_spawned(*a), a->record.realtime_start_ns, a->id) <
           std::tuple(is_spawned(*b), b->record.realtime_start_ns, b->id);
  });
  auto jobs = find_jobs(processes);
  KnownWorlds known;
  std::map<std::pair<Kind, std::int32_t>, std::size_t> of_rank;  // processes so far: the n-th is in the n-th world
  std::size_t count = 0;
  for (Process* process : processes) {
    const ProcessRecord& r = process->record;
    if (r.rank < 0) continue;  // never initialised MPI; stays in world 0
    const Kind kind{is_spawned(*process), r.size, jobs[process]};
    std::vector<KnownWorld>& worlds = known[kind];
    const std::size_t nth = of_rank[{kind, r.rank}]++;
    if (nth == worlds.size()) worlds.push_back({count++});
    worlds[nth].begin_ns = std::min(worlds[nth].begin_ns, process->clock.unix_ns(r.clock_start.ticks));
    worlds[nth].end_ns = std::max(worlds[nth].end_ns, last_ns(*process));
    process->world = static_cast<int>(worlds[nth].number);
  }
  std::stable_sort(processes.begin(), processes.end(), [](const Process* a, const Process* b) {
    return std::tuple(a->world, a->record.rank) < std::tuple(b->world, b->record.rank);
  });
  std::string numbers;
  for (const std::size_t number : mixed_worlds(known))
    numbers += (numbers.empty() ? "" : ", ") + std::to_string(number);
  if (numbers.empty()) return {};
  return "MPI jobs with as many ranks ran at the same time, and nothing tells their processes apart: ranks of worlds " +
         numbers + " may be in the wrong one of them";
}

}  // namespace tare::reader
