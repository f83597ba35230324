// What Python has of the structure of a run.
#pragma once

#include <string>
#include <vector>

#include "reader/structure/iterations.h"

namespace tare::bindings {

// Each with the name of its function.
struct Phase : reader::DetectedPhase {
  std::string letters, function;
};

struct Slow : reader::SlowIteration {
  std::string cause_function;
};

struct Loop : reader::Loop {
  std::string function;
  std::vector<Slow> slow_named;
};

struct Structure {
  std::vector<Phase> phases;
  std::vector<Loop> loops;
};

}  // namespace tare::bindings
