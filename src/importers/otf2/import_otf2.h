// An OTF2 archive as the file of a run.
#pragma once

#include <cstdint>
#include <string>

#include "reader/result.h"

namespace tare::importers::otf2 {

struct Imported {
  std::uint64_t processes = 0, threads = 0, calls = 0;
  std::uint64_t start_ns = 0;    // unix, of the earliest process; of archives that do not say it `fallback_start_ns`
  std::uint64_t wall_ns = 0;     // from the first event to the last
  std::uint64_t unfinished = 0;  // regions that are never left: not imported
  std::string host;
};

// Reads one location after another. Holds the definitions, and of one thread the calls whose requests are under way.
// Not thread-safe: libotf2 tells its errors to one place. Damage that libotf2 does not notice may end the process.
reader::Result<Imported> import_otf2(const std::string& anchor, const std::string& file,
                                     std::uint64_t fallback_start_ns);

}  // namespace tare::importers::otf2
