// Wait states of runs that are made by hand, as lines of text.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "reader/testing/scripted_run.h"
#include "reader/waits/wait_states.h"

namespace tare::reader::synthetic {

class WaitingRun : public ScriptedRun {
 protected:
  void find() {
    ASSERT_NO_FATAL_FAILURE(open());
    auto stream = WaitStates::open(*run);
    ASSERT_TRUE(stream) << stream.error();
    for (auto some = stream->next(); !some.empty(); some = stream->next())
      waits.insert(waits.end(), some.begin(), some.end());
    eager_misjudged = stream->eager().has_misjudged();
    wrong_order = stream->wrong_order();
    unexpected = stream->unexpected();
    violations = stream->violations();
  }
  // Each site is a line. Site 0 of the run is line 1.
  static std::string place(const SiteActivity& of) {
    const std::string off = of.scheduled == Scheduled::running ? "" : name_of(of.scheduled) + std::string(" ");
    return off + (of.in_call ? "in " : "before ") + std::to_string(of.site + 1);
  }
  std::vector<std::string> lines() const {
    std::vector<std::string> all;
    for (const WaitState& of : waits)
      all.push_back(std::to_string(of.rank) + " in " + std::to_string(of.call.site + 1) + ": " +
                    wait_kind_names[static_cast<std::size_t>(of.kind)] + " " + std::to_string(of.wait_ns) + " of " +
                    std::to_string(of.cause_rank) + " in " + std::to_string(of.cause.site + 1) + ", " +
                    std::to_string(of.delay_ns) + " " + (of.delay_ns > 0 ? place(of.delay) : "-") +
                    (of.passed_on_ns > 0 ? ", passed on " + std::to_string(of.passed_on_ns) : ""));
    return all;
  }
  using Lines = std::vector<std::string>;
  static Lines roots(const WaitState& of) {
    Lines all;
    for (const RootCause& root : of.roots)
      all.push_back(std::to_string(root.rank) + " " + place(root.activity) + ": " +
                    std::to_string(std::lround(100 * root.share)) + " %");
    return all;
  }

  std::vector<WaitState> waits;
  bool eager_misjudged = false;
  std::vector<WrongOrder> wrong_order;
  std::vector<UnexpectedSum> unexpected;
  std::vector<ClockViolation> violations;
};

}  // namespace tare::reader::synthetic
