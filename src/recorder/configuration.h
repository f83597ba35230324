// Where and how this process records, as its environment says. docs/environment.md describes the variables.
#pragma once

#include <cstdint>

#include "format/ring.h"
#include "recorder/own_run.h"

namespace tare::recorder {

// Texts belong to the environment, or to the OwnRun.
struct Configuration {
  const char* run_dir;  // nullptr: nowhere
  const char* run_id;
  const char* segment_dir;
  const char* collector;  // host on which `tare run` collects segments; nullptr: on none
  const char* tared;      // the program that drains, monitors or both; nullptr: none
  bool drains;            // the former
  const char* group;      // number of the group that may read the run; nullptr: none
  const char* monitor;    // how the run is monitored (format/monitor_spec.h); nullptr: it is not
  const char* weigh;      // the share of spells that do not measure (spells.h); nullptr: there is no trial
  const char* budget;     // the share of the time that recording may take (there); nullptr: any
  format::RingShape ring;
  std::uint64_t keep_ns;
  bool writes;  // events, or all but that

  // Whether what processes of a node share (node_words.h) is of use: to drain in step, by tared, or to
  // be monitored, or to keep to a budget.
  bool shares() const noexcept {
    return monitor != nullptr || budget != nullptr ||
           (ring.count != 0 && (ring.policy == format::Policy::block || drains));
  }
};

// Whether the environment names a run.
bool environment_has_run() noexcept;

// The run that the environment names.
Configuration configuration_from_environment() noexcept;

// A run that this process has made for itself: with a trace; how to record it the environment says.
Configuration configuration_of(const OwnRun& run) noexcept;

}  // namespace tare::recorder
