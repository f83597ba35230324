// What the locations of a process recorded, each for itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "reader/model/process.h"

namespace tare::reader {

// A table and a buffer of a process, and the thread that has it: one thread after another, if they do not live at the
// same time.
struct Location {
  std::size_t process = 0;  // index in Run::processes()
  std::uint32_t block = 0;
  std::uint32_t thread = 0;  // number of the last thread that has it, or had
  Totals totals;             // of all its threads
};

// Those of one process, made of its profiles and of its trace. `outside_net`: see add_profile().
class LocationsOf {
 public:
  LocationsOf(const Process& process, const std::vector<bool>& outside_net);

  void add(std::uint32_t block, const Profile& profile);
  // When all profiles have been added: sorted by block, of the process with this index.
  std::vector<Location> take(std::size_t index);

 private:
  void add_trace();

  const Process& process_;
  const std::vector<bool>& outside_net_;
  std::map<std::uint32_t, Location> by_block_;
};

}  // namespace tare::reader
