// What each location of a process has recorded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "reader/model/process.h"

namespace tare::reader {

// A table and a buffer of a process, and the thread that has it. Threads that do not live at the same time may share
// one.
struct Location {
  std::size_t process = 0;  // index in Run::processes()
  std::uint32_t block = 0;
  std::uint32_t thread = 0;  // number of the last thread that had it
  Totals totals;             // of all its threads
};

// The locations of one process, from its profiles and its trace. `outside_net`: see add_profile().
class LocationsOf {
 public:
  LocationsOf(const Process& process, const std::vector<bool>& outside_net);

  void add(std::uint32_t block, const Profile& profile);
  // To be called when all profiles have been added. Returns them sorted by block.
  std::vector<Location> take(std::size_t index);

 private:
  void add_trace();

  const Process& process_;
  const std::vector<bool>& outside_net_;
  std::map<std::uint32_t, Location> by_block_;
};

}  // namespace tare::reader
