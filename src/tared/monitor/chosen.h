// Chooses what snapshots contain, from the text of TARE_MONITOR (docs/monitoring.md).
#pragma once

#include <fnmatch.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "format/definition.h"
#include "format/sample_spec.h"

namespace tare::tared {

// Chooses the events of a profile that are in rounds (`only=` of the SPEC of --monitor).
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

// Call sites that are events of their own (`site=` of the SPEC of --monitor, docs/monitoring.md). If there are any,
// only those calls of MPI functions are in rounds whose call path contains one of them, with its name.
// The text of TARE_MONITOR: site=PLACE, or site=LABEL=PLACE=PLACE..., any number of times. A place is as for `tare run
// --sample` (format/sample_spec.h): OBJECT+OFFSET, OBJECT+LOW-HIGH or FILE.py:LINE. Invalid ones are ignored.
class ChosenSites {
 public:
  explicit ChosenSites(const std::string& text = "");
  bool any() const { return !labels_.empty(); }

  // The label of the place that contains a frame; nullptr if it is in none.
  const std::string* label_of(const format::FrameDefinition& frame, const std::string& object) const;
  const std::string* label_of(const format::PythonFrameDefinition& frame, const std::string& file) const;

 private:
  format::SampleSpec places_;
  std::vector<std::string> labels_;  // of each place
};

// The chosen call sites of a process, by their numbers.
class CallSites {
 public:
  // Reads an entry of the definition log; ignores invalid ones.
  void take(const char* entry, std::uint32_t bytes, const ChosenSites& chosen);
  // The label of the site; nullptr if it was not chosen.
  const std::string* label_of(std::uint32_t site) const;

 private:
  void take_site(const char* entry, std::uint32_t bytes);

  std::unordered_map<std::uint32_t, std::string> modules_;  // names of files, without folders
  std::unordered_map<std::uint32_t, const std::string*> frames_, sites_;
};

// The value of a key in a text like that of TARE_MONITOR (format/monitor_spec.h); `otherwise` if there is none.
inline std::string value_of(const std::string& spec, const std::string& key, const std::string& otherwise) {
  for (std::size_t at = 0; at < spec.size();) {
    if (spec.compare(at, 7, "region=") == 0) break;  // the last key, whose value may contain anything
    const std::size_t end = std::min(spec.find(',', at), spec.size());
    if (spec.compare(at, key.size() + 1, key + "=") == 0)
      return spec.substr(at + key.size() + 1, end - at - key.size() - 1);
    at = end + 1;
  }
  return otherwise;
}

}  // namespace tare::tared
