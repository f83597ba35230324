// The communicators of an archive, as definitions of each process that is a member.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "importers/otf2/archive_definitions.h"
#include "importers/run_file.h"

namespace tare::importers::otf2 {

class Communicators {
 public:
  // The definitions must outlive it.
  explicit Communicators(const ArchiveDefinitions& definitions);

  // Its number in records; no_communicator if the archive does not define it.
  std::uint32_t number(OTF2_CommRef of) const {
    const auto found = numbers_.find(of);
    return found == numbers_.end() ? format::no_communicator : found->second;
  }
  // Defines those that the process, whose rank is known, is a member of.
  void define(ProcessWriter& process) const;

 private:
  std::vector<std::int32_t> members(OTF2_GroupRef group, std::int32_t rank) const;

  const ArchiveDefinitions& definitions_;
  std::unordered_map<OTF2_CommRef, std::uint32_t> numbers_;
};

}  // namespace tare::importers::otf2
