// The run directory that a program makes for itself (tare_start), without `tare run`.
#pragma once

#include <climits>

namespace tare::recorder {

// Plain data.
struct OwnRun {
  char directory[PATH_MAX];          // absolute
  char segment_directory[PATH_MAX];  // where its segments lie
  char id[17];
};

// Makes the directory `wanted`, or one named after the program and the time, and its meta.json with what is known
// without `tare run`. On failure false, with errno.
bool make_run(const char* wanted, OwnRun& run) noexcept;

}  // namespace tare::recorder
