// The run directory that a program makes for itself (tare_start), without `tare run`.
#pragma once

#include <climits>

#include "format/run_key.h"

namespace tare::recorder {

// Plain data.
struct OwnRun {
  char directory[PATH_MAX];  // absolute
  char id[17];
  char key[format::run_key_digits + 1];
};

// Makes the directory `wanted`, or one named after the program and the time, and its meta.json with what is known
// without `tare run`. On failure false, with errno.
bool make_run(const char* wanted, OwnRun& run) noexcept;

}  // namespace tare::recorder
