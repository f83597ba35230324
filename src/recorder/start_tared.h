// Starting the node's tared (src/tared), where `tare run` has not done so.
#pragma once

namespace tare::recorder {

// Variables that tared knows too: the number of the group that may read the run.
inline constexpr char group_variable[] = "TARE_GROUP";
// And how the run is monitored (format/monitor_spec.h).
inline constexpr char monitor_variable[] = "TARE_MONITOR";

struct TaredArguments {
  const char* program;
  const char* run_dir;
  const char* run_id;
  const char* segment_dir;
  bool drains;  // whether it is to drain; it monitors if the variable says how
};

// Starts `program`, which is tared, for a run; of the processes of a node the first one that asks. It is nobody's
// child, and ends when there is none of them any more (src/tared/tared.cpp).
void start_tared(const TaredArguments& arguments) noexcept;

}  // namespace tare::recorder
