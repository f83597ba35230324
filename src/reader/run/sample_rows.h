// The results of message sampling in a run: classes of messages, with the call sites that sent and received them.
#pragma once

#include <cstdint>
#include <vector>

#include "format/sample.h"
#include "reader/run/run.h"

namespace tare::reader {

struct SampledClass {
  int world = 0;
  std::int32_t destination = -1;                   // rank in the world of the receiving process
  std::int32_t send_site = -1, receive_site = -1;  // indices in Run::sites(); -1: not known
  format::SampleClass found;

  // The number of messages that the samples represent is found.weight, unless it is not known.
  bool is_weight_known() const { return (found.flags & format::weight_unknown) == 0; }
};

// The classes of all receiving processes, in the order of Run::processes(). Damaged samples are left out, and
// Run::warnings() names them.
std::vector<SampledClass> sampled_classes(Run& run);

}  // namespace tare::reader
