#include "reader/run/sample_rows.h"

#include <map>
#include <utility>

namespace tare::reader {

std::vector<SampledClass> sampled_classes(Run& run) {
  const std::vector<Process>& processes = run.processes();
  std::map<std::pair<int, std::int32_t>, const Process*> by_rank;
  for (const Process& process : processes) by_rank.emplace(std::pair(process.world, process.record.rank), &process);
  std::vector<SampledClass> all;
  run.samples([&](std::size_t receiver, const Samples& samples) {
    const Process& to = processes[receiver];
    for (const format::SampleClass& c : samples.classes) {
      const auto from = by_rank.find({to.world, c.source});
      all.push_back({to.world, to.record.rank, from == by_rank.end() ? -1 : from->second->sites.find(c.send_site),
                     to.sites.find(c.receive_site), c});
    }
  });
  return all;
}

}  // namespace tare::reader
