#include "reader/run/sample_rows.h"

#include <cstring>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace tare::reader {
namespace {

using RankOfWorld = std::pair<int, std::int32_t>;  // a world, and a rank in it

// Whether messages chosen by this spec have no known probability. Runs of older versions do not say so in each class.
bool has_no_probability(std::string_view spec) {
  if (spec == "counter:1,0" || spec.starts_with("counter:1,0,")) return false;  // all messages
  return spec.starts_with("counter:") || spec.starts_with("timer:");
}

}  // namespace

std::vector<SampledClass> sampled_classes(Run& run) {
  const std::vector<Process>& processes = run.processes();
  std::map<RankOfWorld, const Process*> by_rank;
  for (const Process& process : processes) by_rank.emplace(RankOfWorld(process.world, process.record.rank), &process);
  std::vector<SampledClass> all;
  std::set<RankOfWorld> without_probability;
  run.samples([&](std::size_t receiver, const Samples& samples) {
    const Process& to = processes[receiver];
    const char* spec = samples.summary.spec;
    if (has_no_probability({spec, strnlen(spec, sizeof samples.summary.spec)}))
      without_probability.emplace(to.world, to.record.rank);
    for (const format::SampleClass& c : samples.classes) {
      const auto from = by_rank.find({to.world, c.source});
      all.push_back({to.world, to.record.rank, from == by_rank.end() ? -1 : from->second->sites.find(c.send_site),
                     to.sites.find(c.receive_site), c});
    }
  });
  for (SampledClass& each : all) {
    const bool of_any = each.found.source < 0;  // of any source: no room for its class
    const bool unknown =
        of_any ? !without_probability.empty() : without_probability.contains({each.world, each.found.source});
    if (unknown) each.found.flags |= format::weight_unknown;
  }
  return all;
}

}  // namespace tare::reader
