#include "tared/job.h"

#include <unistd.h>

#include "recorder/clock.h"
#include "recorder/node_words.h"
#include "recorder/system.h"
#include "tared/drain/segment.h"

namespace tare::tared {
namespace {

using recorder::node_words;

constexpr std::uint64_t pause_ns = 1'000'000'000;  // if the disk is full

Segment::Drained drain_all(Processes<Segment>& processes) {
  auto result = Segment::Drained::nothing;
  for (const auto& [path, segment] : processes.segments()) {
    const auto drained = segment->drain();
    if (drained == Segment::Drained::failed) return drained;
    if (drained == Segment::Drained::some) result = drained;
  }
  return result;
}

}  // namespace

void drain(const Job& job) {
  Processes<Segment> processes(job.places);
  const auto self = static_cast<std::uint32_t>(getpid());
  std::uint64_t looked = 0;
  std::uint32_t seen = 0;
  while (has_to_end == 0) {
    // Repeated, because a thread whose wait timed out clears it.
    node_words->tared.store(self, std::memory_order_relaxed);
    const std::uint32_t full = node_words->full.load(std::memory_order_acquire);
    const std::uint32_t begun = node_words->processes.load(std::memory_order_acquire);
    const std::uint64_t now = recorder::read_ns(CLOCK_MONOTONIC);
    if (begun != seen || now - looked >= look_every_ns) {
      processes.look();
      if (!job.starter.is_there() && !processes.any_alive()) break;
      seen = begun;
      looked = now;
    }
    const auto drained = drain_all(processes);
    if (drained == Segment::Drained::nothing) recorder::wait_on(&node_words->full, full, look_every_ns);
    if (drained == Segment::Drained::failed) {
      node_words->tared.store(0, std::memory_order_relaxed);
      recorder::wait_on(&node_words->started, 1, pause_ns);
    }
  }
  node_words->tared.store(0);
}

}  // namespace tare::tared
