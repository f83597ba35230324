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
  bool is_init(std::uint16_t function) const { return function == init_ || function == init_thread_; }
  bool is_finalize(std::uint16_t function) const { return function == finalize_; }
  // A matched probe counts as the posting of the receive that a matched receive completes.
  bool is_matched_probe(std::uint16_t function) const { return function == matched_probe_; }
  bool is_matched_receive(std::uint16_t function) const { return function == matched_receive_; }

 private:
  std::unordered_map<OTF2_RegionRef, std::uint16_t> by_region_;
  std::uint16_t init_ = 0, init_thread_ = 0, finalize_ = 0, matched_probe_ = 0, matched_receive_ = 0;
};

}  // namespace tare::importers::otf2
