// Call sites that are events of their own (`site=` of the SPEC of --monitor, docs/monitoring.md). If there are any,
// only those calls of MPI functions are in rounds whose call path contains one of them, with its name.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "format/definition.h"
#include "format/sample_spec.h"

namespace tare::tared {

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

}  // namespace tare::tared
