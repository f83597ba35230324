// What each thread has done in the parallel regions of OpenMP, from the rows of its profile (src/openmp).
#pragma once

#include <cstdint>
#include <vector>

#include "reader/store/function_names.h"
#include "reader/store/profile.h"

namespace tare::reader {

// What calls of a function of OpenMP are for a region.
enum class RegionRole : std::uint8_t {
  none,
  region,  // the region itself, in the thread that has encountered it
  part,    // what one thread runs in it
  wait,    // waiting in it; tasks may run meanwhile
  task,    // a task that runs while its thread waits
};
// By function number.
std::vector<RegionRole> region_roles(const FunctionNames& names);

// The part of a location in one region. Times are ticks.
struct RegionPart {
  // Of the region in the process. 0: regions for which the profile had no room; only their numbers are known.
  std::uint32_t number = 0;
  std::uint32_t site = 0;  // its call site in the process; 0: not known
  std::uint64_t regions = 0, region_ticks = 0;
  std::uint64_t parts = 0, part_ticks = 0;
  std::uint64_t wait_ticks = 0, task_ticks = 0;
};

// Adds the rows of a profile. `functions`: of its process. `roles`: region_roles().
void add_region_parts(std::vector<RegionPart>& parts, const FunctionNames::Map& functions,
                      const std::vector<RegionRole>& roles, const Profile& profile);

}  // namespace tare::reader
