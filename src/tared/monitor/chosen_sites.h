// Call sites that are events of their own (`site=` of the SPEC of --monitor, docs/monitoring.md): of the calls of MPI
// functions only those that come by one of them are in rounds then, named after it.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "format/definition.h"
#include "format/sample_spec.h"

namespace tare::tared {

// As TARE_MONITOR has them: site=PLACE, or site=LABEL=PLACE=PLACE..., any number of times. A place is what `tare run
// --sample` takes (format/sample_spec.h): OBJECT+OFFSET, OBJECT+LOW-HIGH or FILE.py:LINE. What is none is left out.
class ChosenSites {
 public:
  explicit ChosenSites(const std::string& text = "");
  bool any() const { return !labels_.empty(); }

  // What the place that a frame is in is called; nullptr if it is in none.
  const std::string* label_of(const format::FrameDefinition& frame, const std::string& object) const;
  const std::string* label_of(const format::PythonFrameDefinition& frame, const std::string& file) const;

 private:
  format::SampleSpec places_;
  std::vector<std::string> labels_;  // of each place
};

// The chosen ones among the call sites of a process, by their numbers.
class CallSites {
 public:
  // An entry of the definition log; what makes no sense is left out.
  void take(const char* entry, std::uint32_t bytes, const ChosenSites& chosen);
  // What the site is called; nullptr if it is none that was chosen.
  const std::string* label_of(std::uint32_t site) const;

 private:
  void take_site(const char* entry, std::uint32_t bytes);

  std::unordered_map<std::uint32_t, std::string> modules_;  // names of files, without folders
  std::unordered_map<std::uint32_t, const std::string*> frames_, sites_;
};

}  // namespace tare::tared
