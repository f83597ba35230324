// Monitors the run's processes on this node: takes their snapshots, reduces each round, and stores it in the run.
#pragma once

#include "tared/job.h"

namespace tare::tared {

// `spec`: the text of TARE_MONITOR. Returns when there is nothing more to do; at once if the text makes no sense.
void monitor(const Job& job, const char* spec, const char* host);

// The value of a key of such a text; `otherwise` if it is not there.
std::string value_of(const std::string& spec, const std::string& key, const std::string& otherwise);

}  // namespace tare::tared
