// The stack samples of one process (format/stack_samples.h), and where to read them from.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "format/stack_samples.h"
#include "reader/store/payload.h"

namespace tare::reader {

struct StackSamples {
  format::StackSamples head{};
  std::vector<format::SampledStack> stacks;
};

// Nothing if the payload of a stacks chunk is malformed.
std::optional<StackSamples> parse_stack_samples(std::string_view payload);

// No samples if they cannot be read.
StackSamples read_stack_samples(const PayloadSource& source);

}  // namespace tare::reader
