// A call path as text.
#pragma once

#include <string>
#include <vector>

#include "reader/run/run.h"

namespace tare::reader {

// All frames of a call path in one line, each function to the left of its caller: "solve a.c:12 < main a.c:40".
std::string path_text(const SiteInfo& site, const std::vector<FrameInfo>& frames);

}  // namespace tare::reader
