#include "reader/store/stack_samples.h"

namespace tare::reader {

std::optional<StackSamples> parse_stack_samples(std::string_view payload) {
  StackSamples all;
  if (!take_record(payload, all.head) || !take_all_records(payload, all.stacks)) return std::nullopt;
  if (all.stacks.size() != all.head.stacks) return std::nullopt;
  return all;
}

StackSamples read_stack_samples(const PayloadSource& source) { return read_payload(source, parse_stack_samples); }

}  // namespace tare::reader
