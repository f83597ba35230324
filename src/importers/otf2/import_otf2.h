// Converts an OTF2 archive to the file of a run.
#pragma once

#include <cstdint>
#include <string>

#include "reader/result.h"

namespace tare::importers::otf2 {

struct Imported {
  std::uint64_t processes = 0, threads = 0, calls = 0;
  std::uint64_t start_ns = 0;  // of the earliest process, Unix time; `fallback_start_ns` if the archive does not say it
  std::uint64_t wall_ns = 0;   // from the first event to the last
  std::uint64_t unfinished = 0;  // regions without a leave, which are not imported
  std::string host;
};

// Reads one location after another. Holds the definitions, and for one thread the calls with requests under way. Not
// thread-safe, because libotf2 has one error handler. Damage that libotf2 does not notice may end the process.
reader::Result<Imported> import_otf2(const std::string& anchor, const std::string& file,
                                     std::uint64_t fallback_start_ns);

}  // namespace tare::importers::otf2
