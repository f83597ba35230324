// Totals of each location of a process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "reader/model/process.h"
#include "reader/model/region_parts.h"
#include "reader/store/stack_samples.h"

namespace tare::reader {

// A location block of a process: a profile table and an event buffer. A thread that has ended hands its block to a
// later thread, so several threads may have used it, one after another.
struct Location {
  std::size_t process = 0;            // index in Run::processes()
  std::uint32_t block = 0;            // number of the location block
  std::uint32_t thread = 0;           // number of the last thread that used it
  Totals totals;                      // over all threads that used it
  std::vector<RegionPart> regions{};  // its parts in parallel regions of OpenMP, also over all of them
};

// Makes the locations of one process from its profiles and its trace. `names` are the functions of the run;
// `outside_net`: see add_profile(); `roles`: region_roles(). All arguments must outlive the object.
class LocationsOf {
 public:
  LocationsOf(const Process& process, const FunctionNames& names, const std::vector<bool>& outside_net,
              const std::vector<RegionRole>& roles);

  void add(std::uint32_t block, const Profile& profile);
  // The locations, sorted by block. To be called once, after all profiles have been added. `index`: of the process in
  // Run::processes().
  std::vector<Location> take(std::size_t index);

 private:
  void add_trace();
  void add_readings();

  const Process& process_;
  const FunctionNames& names_;
  const std::vector<bool>& outside_net_;
  const std::vector<RegionRole>& roles_;
  const StackSamples stacks_;
  std::map<std::uint32_t, std::int64_t> sampled_ns_;  // by thread: processor time that its samples stand for
  std::map<std::uint32_t, TimeOfThreads> times_;      // by location
  std::map<std::uint32_t, Location> by_block_;
};

}  // namespace tare::reader
