#include "reader/store/stack_samples.h"

#include <cstring>

namespace tare::reader {

std::optional<StackSamples> parse_stack_samples(std::string_view payload) {
  StackSamples all;
  if (payload.size() < sizeof all.head) return std::nullopt;
  std::memcpy(&all.head, payload.data(), sizeof all.head);
  payload.remove_prefix(sizeof all.head);
  if (payload.size() != std::uint64_t{all.head.stacks} * sizeof(format::SampledStack)) return std::nullopt;
  all.stacks.resize(all.head.stacks);
  if (!payload.empty()) std::memcpy(all.stacks.data(), payload.data(), payload.size());
  return all;
}

StackSamples read_stack_samples(const StackSource& source) {
  std::vector<char> raw;
  std::string reason;
  std::optional<StackSamples> all;
  if (source.copy != nullptr)
    all = parse_stack_samples(*source.copy);
  else if (source.chunk != nullptr && load_chunk(*source.chunk, raw, reason))
    all = parse_stack_samples({raw.data(), raw.size()});
  return all.value_or(StackSamples{});
}

}  // namespace tare::reader
