// The stack samples of one process (format/stack_samples.h), and where to read them from.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/stack_samples.h"
#include "reader/store/chunk_scan.h"

namespace tare::reader {

struct StackSamples {
  format::StackSamples head{};
  std::vector<format::SampledStack> stacks;
};

// Nothing if the payload of a stacks chunk is malformed.
std::optional<StackSamples> parse_stack_samples(std::string_view payload);

// Where the newest samples of a process are: a chunk on disk, or a copy from the segment. Both are null if no stacks
// were sampled.
struct StackSource {
  const ChunkRef* chunk = nullptr;            // of Run::files()
  std::shared_ptr<const std::string> copy{};  // the payload; used if not null

  bool is_there() const { return chunk != nullptr || copy != nullptr; }
};

// No samples if they cannot be read.
StackSamples read_stack_samples(const StackSource& source);

}  // namespace tare::reader
