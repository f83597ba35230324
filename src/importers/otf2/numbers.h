// The numbers in tare's records: of an archive's MPI functions, communicators and requests.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "format/record.h"
#include "importers/otf2/archive_definitions.h"
#include "importers/run_file.h"

namespace tare::importers::otf2 {

// Which regions of an archive are MPI functions.
class MpiFunctions {
 public:
  // By the names of regions.
  explicit MpiFunctions(const ArchiveDefinitions& definitions);

  // The number in tare's table of functions; 0: it is no function of MPI that tare knows.
  std::uint16_t of(OTF2_RegionRef region) const {
    const auto found = by_region_.find(region);
    return found == by_region_.end() ? std::uint16_t{0} : found->second;
  }

 private:
  std::unordered_map<OTF2_RegionRef, std::uint16_t> by_region_;
};

// The communicators of an archive, as definitions of each process that is a member.
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

// The requests under way of a process, with their numbers in tare's records.
class RequestNumbers {
 public:
  // A new number. The archive's number may be in use again by now.
  std::uint32_t begin(std::uint64_t request) {
    if (++last_ == format::no_request) ++last_;
    numbers_[request] = last_;
    return last_;
  }
  // Returns the number and removes it; no_request if it is not known.
  std::uint32_t end(std::uint64_t request) {
    const auto found = numbers_.extract(request);
    return found.empty() ? format::no_request : found.mapped();
  }

 private:
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;  // by the archive's
  std::uint32_t last_ = format::no_request;
};

}  // namespace tare::importers::otf2
