// Chooses the frame of a call path that is shown for a call site, so that sites can be distinguished.
//
// The default is the innermost frame in the program itself (SiteIndex). In two cases, nearly all sites would then show
// the same lines. If the application is a shared library below a main program of a few lines, the innermost frame in
// that library is shown. If the program makes its MPI calls in one file of wrappers, the caller of the wrapper is
// shown.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reader/model/site_index.h"

namespace tare::reader {

// A function that is called at a site.
struct CalledSite {
  std::string function;
  std::int32_t site = -1;  // index in Run::sites()
};

// How many ranks are looked at. The ranks of a run execute one program, or a few.
inline constexpr std::int32_t ranks_seen = 64;

// Whether any site has more than one frame, so that there is a choice.
bool have_callers(const std::vector<SiteInfo>& sites);
// Sets SiteInfo::shown of each site, depending on the calls made at all sites. Symbols of the frames must be known.
void choose_frames(std::vector<SiteInfo>& sites, const std::vector<FrameInfo>& frames,
                   const std::vector<CalledSite>& called);

}  // namespace tare::reader
