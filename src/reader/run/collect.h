// Moves what dead processes left behind in shared memory to the run directory.
#pragma once

#include "reader/result.h"
#include "reader/run/left_segments.h"

namespace tare::reader {

// collect_left(), into all files of the run. Then stores the symbols of new call sites. Fails only if the arguments are
// not valid or the run directory cannot be read.
Result<Collected> collect(const RunPaths& paths, const Collecting& how = {});

}  // namespace tare::reader
