// Starts the node's tared (src/tared), if `tare run` has not done so.
#pragma once

namespace tare::recorder {

// Variables that tared reads, too. This one: the number of the group that may read the run.
inline constexpr char group_variable[] = "TARE_GROUP";
// How the run is monitored (format/monitor_spec.h).
inline constexpr char monitor_variable[] = "TARE_MONITOR";
// What `tare run` sees (maker.h).
inline constexpr char collector_variable[] = "TARE_COLLECTOR";

struct TaredArguments {
  const char* program;
  const char* run_dir;
  const char* run_id;
  const char* segment_dir;
  bool drains;  // whether tared drains; whether it monitors, the variable says
};

// Starts `program`, which is tared, for a run. Only the first process of a node that calls it does so. tared is no
// child of it, and ends when none of the node's processes is left (src/tared/tared.cpp).
void start_tared(const TaredArguments& arguments) noexcept;

}  // namespace tare::recorder
