// Which regions of an archive are MPI functions.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "importers/otf2/archive_definitions.h"

namespace tare::importers::otf2 {

class MpiFunctions {
 public:
  // By the names of regions.
  explicit MpiFunctions(const ArchiveDefinitions& definitions);

  // The number in tare's table of functions; 0: tare does not know the function.
  std::uint16_t of(OTF2_RegionRef region) const {
    const auto found = by_region_.find(region);
    return found == by_region_.end() ? std::uint16_t{0} : found->second;
  }

 private:
  std::unordered_map<OTF2_RegionRef, std::uint16_t> by_region_;
};

}  // namespace tare::importers::otf2
