// Which frame of a call path stands for a call site: the one that tells it from the others.
//
// At first that is the innermost frame in the program itself (SiteIndex). That says nothing where the application lies
// in a shared library of its own, below a main program of a few lines; nor where the program calls MPI in one file of
// wrappers. In the first case it is the innermost frame in that library, in the second the wrapper's caller.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reader/model/site_index.h"

namespace tare::reader {

// A function that is called by a path.
struct CalledSite {
  std::string function;
  std::int32_t site = -1;
};

// Ranks whose calls are worth looking at: all are of one program, or of few.
inline constexpr std::int32_t ranks_seen = 64;

// Whether there is anything to choose.
bool have_callers(const std::vector<SiteInfo>& sites);
// Chooses the frame that is shown of each site anew, by the calls that were made there. Symbols have to be known.
void choose_frames(std::vector<SiteInfo>& sites, const std::vector<FrameInfo>& frames,
                   const std::vector<CalledSite>& called);

}  // namespace tare::reader
