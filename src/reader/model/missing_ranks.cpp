#include "reader/model/missing_ranks.h"

#include <algorithm>
#include <map>

namespace tare::reader {
namespace {

struct World {
  std::int32_t size = 0;
  std::map<std::int32_t, const Process*> ranks;  // those that are elsewhere; nullptr: has results
};

// Joins neighbours that ran on the same host.
void add(std::vector<MissingRanks>& found, MissingRanks next) {
  if (!found.empty()) {
    MissingRanks& before = found.back();
    if (before.world == next.world && before.last + 1 == next.first && before.host == next.host) {
      before.last = next.last;
      return;
    }
  }
  found.push_back(std::move(next));
}

}  // namespace

bool is_elsewhere(const Process& process) {
  const format::ProcessRecord& record = process.record;
  const bool ended = record.state == format::ProcessState::exited || record.state == format::ProcessState::aborted ||
                     (record.flags & format::found_ended) != 0;
  if ((record.flags & format::told_living) != 0) return false;
  return record.rank >= 0 && !ended && !process.segment && process.profiles.empty();
}

std::vector<MissingRanks> missing_ranks(const std::vector<Process>& processes, const std::vector<Process>& others) {
  std::map<int, World> worlds;
  for (const auto* list : {&processes, &others}) {
    for (const Process& process : *list) {
      if (process.record.rank < 0) continue;
      World& world = worlds[process.world];
      world.size = std::max(world.size, process.record.size);
      world.ranks.try_emplace(process.record.rank, process.has_results ? nullptr : &process);
    }
  }
  std::vector<MissingRanks> found;
  for (const auto& [number, world] : worlds) {
    std::int32_t next = 0;
    for (const auto& [rank, process] : world.ranks) {
      if (rank >= world.size) break;  // a damaged one
      if (rank > next) add(found, {number, next, rank - 1, world.size, {}});
      if (process != nullptr) add(found, {number, rank, rank, world.size, process->record.host});
      next = rank + 1;
    }
    if (next < world.size) add(found, {number, next, world.size - 1, world.size, {}});
  }
  return found;
}

std::vector<MissingRanks> saved_ranks(const std::vector<Process>& processes) {
  std::vector<MissingRanks> found;
  for (const Process& process : processes) {
    const format::ProcessRecord& record = process.record;
    if (record.rank < 0 || (record.flags & format::saved_living) == 0) continue;
    add(found, {process.world, record.rank, record.rank, record.size, record.host});
  }
  return found;
}

}  // namespace tare::reader
