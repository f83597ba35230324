// Stack samples of a process: where its threads were each time they had used a processor for a while longer. Part of
// the segment: StackSamples, followed by a hash table of SampledStacks. Also on disk: the payload of a stacks chunk is
// a StackSamples and the SampledStacks that are in use.
#pragma once

#include <cstdint>

namespace tare::format {

struct StackSamples {
  std::uint64_t interval_ns;  // processor time of a thread between two samples: the longest, if it changed
  std::uint64_t samples;      // all that were taken
  std::uint64_t missed_ns;  // processor time of which there is no sample (the signal was blocked, the thread ended, …)
  std::uint64_t cut;        // whose stack could not be walked to its end
  std::uint64_t lost;       // of which is not known where they were, because there was no room
  std::uint64_t ticks;      // that taking samples took
  std::uint32_t unsampled_threads;  // of which the system took no samples
  std::uint32_t stacks;             // of the table: its slots; on disk: those that follow
};
static_assert(sizeof(StackSamples) == 56);

// What a thread was doing.
enum class SampledIn : std::uint32_t {
  program = 0,
  call = 1,  // of MPI, or of another source: the site is that of the call
  tare = 2,  // tare's own code; without a site
};

// Samples of a thread at one place. An unused one has none.
struct SampledStack {
  std::uint32_t site;  // in SampledIn::program one of the flag `of_stack`; 0: not known
  std::uint32_t thread;
  SampledIn in;
  std::uint32_t samples;
  std::uint64_t ns;  // processor time since the sample before each of them
};
static_assert(sizeof(SampledStack) == 24);

inline constexpr std::uint32_t stack_slots = 16384;  // a power of two
inline constexpr std::uint64_t stack_samples_bytes =
    sizeof(StackSamples) + std::uint64_t{stack_slots} * sizeof(SampledStack);

}  // namespace tare::format
