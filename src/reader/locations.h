// What the locations of a run recorded, each for itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "reader/run.h"

namespace tare::reader {

// A table and a buffer of a process, and the thread that has it: one thread after another, if they do not live at the
// same time.
struct Location {
  std::size_t process = 0;  // index in Run::processes()
  std::uint32_t block = 0;
  std::uint32_t thread = 0;  // number of the last thread that has it, or had
  Totals totals;             // of all its threads
};

// Sorted by process and block. Profiles that are damaged are left out: Run::totals() warns of them.
std::vector<Location> locations_of(const Run& run);

}  // namespace tare::reader
