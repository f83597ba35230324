// Chooses the events of a profile that are in rounds (`only=` of the SPEC of --monitor).
#pragma once

#include <fnmatch.h>

#include <algorithm>
#include <string>
#include <vector>

namespace tare::tared {

class ChosenEvents {
 public:
  // Patterns as for file names, joined by a plus; none: all events.
  explicit ChosenEvents(const std::string& patterns = "") {
    for (std::size_t at = 0; at < patterns.size();) {
      const std::size_t end = std::min(patterns.find('+', at), patterns.size());
      if (end > at) patterns_.push_back(patterns.substr(at, end - at));
      at = end + 1;
    }
  }
  // For "MPI_Send"; or for "region solve", whose name is "solve".
  bool has(const std::string& identity) const {
    if (patterns_.empty()) return true;
    const std::size_t space = identity.find(' ');
    const std::string name = space == std::string::npos ? identity : identity.substr(space + 1);
    for (const std::string& pattern : patterns_)
      if (fnmatch(pattern.c_str(), name.c_str(), 0) == 0 || fnmatch(pattern.c_str(), identity.c_str(), 0) == 0)
        return true;
    return false;
  }

 private:
  std::vector<std::string> patterns_;
};

}  // namespace tare::tared
