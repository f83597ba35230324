// The table of stack samples in the segment (format/stack_samples.h).
#pragma once

#include <cstdint>

#include "format/stack_samples.h"

namespace tare::stacks {

// What a sample was of. `site` and `thread` as in format::SampledStack.
struct Place {
  std::uint32_t site;
  std::uint32_t thread;
  format::SampledIn in;
};

// Adds a sample that stands for so much processor time. If the table has no room for the place, it counts as lost. For
// signal handlers that are not interrupted by one another.
void add_sample(format::StackSamples& table, const Place& place, std::uint64_t ns) noexcept;

// For a forked child: no thread holds a lock.
void release_table() noexcept;

}  // namespace tare::stacks
