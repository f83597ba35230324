// What a job of tared gets: the run, and when to end.
#pragma once

#include <csignal>

#include "tared/open_segment.h"
#include "tared/processes.h"

namespace tare::tared {

// How often SIGTERM came: if more than once, what is left is not waited for.
extern volatile std::sig_atomic_t has_to_end;

struct Job {
  RunPlaces places;
  const Watched& starter;  // jobs end when neither it nor any process of the run exists
};

inline constexpr std::uint64_t look_every_ns = 250'000'000;  // for new processes, and for the end of the starter

}  // namespace tare::tared
