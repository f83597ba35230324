// What message sampling has found in a run: classes of messages, with the places where they were sent and received.
#pragma once

#include <cstdint>
#include <vector>

#include "format/sample.h"
#include "reader/run/run.h"

namespace tare::reader {

struct SampledClass {
  int world = 0;
  std::int32_t destination = -1;
  std::int32_t send_site = -1, receive_site = -1;  // numbers in Run::sites(); -1: not known
  format::SampleClass found;
};

// By the process that received, one after another. What is damaged is left out and warned of.
std::vector<SampledClass> sampled_classes(Run& run);

}  // namespace tare::reader
