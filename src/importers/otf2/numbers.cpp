#include "importers/otf2/numbers.h"

#include <algorithm>
#include <string>
#include <utility>

#include "reader/store/function_names.h"

namespace tare::importers::otf2 {

MpiFunctions::MpiFunctions(const ArchiveDefinitions& definitions) {
  std::unordered_map<std::string, std::uint16_t> numbers;
  const reader::FunctionNames names;
  for (std::uint16_t i = 1; i < names.names().size(); ++i)
    if (names.is_of_mpi(i)) numbers.emplace(names.names()[i], i);
  for (const auto& [number, region] : definitions.regions) {
    const auto found = numbers.find(definitions.text(region.name));
    if (found != numbers.end()) by_region_[number] = found->second;
  }
}

Communicators::Communicators(const ArchiveDefinitions& definitions) : definitions_(definitions) {
  for (const OTF2_CommRef each : definitions.communicator_order)
    numbers_.emplace(each, static_cast<std::uint32_t>(numbers_.size() + 1));
}

std::vector<std::int32_t> Communicators::members(OTF2_GroupRef group, std::int32_t rank) const {
  const auto found = definitions_.groups.find(group);
  if (found == definitions_.groups.end()) return {};
  if (found->second.is_self) return {rank};
  std::vector<std::int32_t> members;
  for (const std::uint64_t member : found->second.members) {
    if (member >= definitions_.comm_locations.size()) return {};
    members.push_back(static_cast<std::int32_t>(member));
  }
  return members;
}

void Communicators::define(ProcessWriter& process) const {
  const std::int32_t rank = process.record().rank;
  if (rank < 0) return;
  for (const OTF2_CommRef each : definitions_.communicator_order) {
    const Communicator& communicator = definitions_.communicators.at(each);
    Membership of;
    of.number = numbers_.at(each);
    of.name = definitions_.text(communicator.name);
    of.members = members(communicator.group, rank);
    if (communicator.inter) of.remote_members = members(communicator.remote_group, rank);
    if (communicator.inter && std::find(of.members.begin(), of.members.end(), rank) == of.members.end())
      std::swap(of.members, of.remote_members);
    const auto own = std::find(of.members.begin(), of.members.end(), rank);
    if (own == of.members.end()) continue;
    of.rank = static_cast<std::int32_t>(own - of.members.begin());
    // Equal for all members, and different for other communicators.
    const auto group = definitions_.groups.find(communicator.group);
    const std::uint64_t owner =
        group != definitions_.groups.end() && group->second.is_self ? static_cast<std::uint64_t>(rank) + 1 : 0;
    of.key = (std::uint64_t{of.number} * 0x9e3779b97f4a7c15) ^ owner;
    process.define_communicator(of);
  }
}

}  // namespace tare::importers::otf2
