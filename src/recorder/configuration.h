// Where and how this process records, according to its environment. docs/environment.md describes the variables.
#pragma once

#include <cstdint>

#include "format/ring.h"
#include "recorder/own_run.h"

namespace tare::recorder {

// The texts belong to the environment or to the OwnRun.
struct Configuration {
  const char* run_dir;  // nullptr: the process does not record
  const char* run_id;
  const char* run_key;  // format/run_key.h; nullptr: there is none
  const char* segment_dir;
  const char* collector;  // where `tare run` collects segments (maker.h); nullptr: nowhere
  const char* tared;      // the program tared, which drains, monitors or both; nullptr: none
  bool drains;            // whether tared drains
  const char* keeper;     // the program keeper, which collects what killed processes leave; nullptr: nothing does
  const char* group;      // number of the group that may read the run; nullptr: none
  const char* monitor;    // how the run is monitored (format/monitor_spec.h); nullptr: it is not
  const char* weigh;      // the share of spells that do not measure (spells.h); nullptr: there is no trial
  const char* budget;     // the budget (spells.h); nullptr: there is none
  format::RingShape ring;
  std::uint64_t keep_ns;
  bool writes;  // whether events are written to disk (TARE_WRITE)

  // Whether the process needs the memory that processes of a node share (node_words.h): to drain in step or by tared,
  // to be monitored, or for spells.
  bool shares() const noexcept {
    return monitor != nullptr || budget != nullptr || weigh != nullptr ||
           (ring.count != 0 && (ring.policy == format::Policy::block || drains));
  }
};

// Whether the environment names a run.
bool environment_has_run() noexcept;

// The run that the environment names, and how to record it.
Configuration configuration_from_environment() noexcept;

// The same for a run that this process has made itself. It is traced.
Configuration configuration_of(const OwnRun& run) noexcept;

}  // namespace tare::recorder
