// What a job of tared is given: the run, and when it is to end.
#pragma once

#include <csignal>

#include "tared/open_segment.h"
#include "tared/processes.h"

namespace tare::tared {

// Set by SIGTERM.
extern volatile std::sig_atomic_t told_to_end;

struct Job {
  RunPlaces places;
  const Watched& starter;  // jobs end when neither it nor any process of the run is there
};

inline constexpr std::uint64_t look_every_ns = 250'000'000;  // for new processes, and for the starter

}  // namespace tare::tared
