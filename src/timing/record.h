// The record of one process: a line of JSON, appended to $TARE_TIMING.<host> when the process ends.
#pragma once

#include <sys/resource.h>

#include <cstdint>

namespace tare::timing {

// Times are CLOCK_MONOTONIC in ns; 0 if the event has not happened.
struct Times {
  std::uint64_t start = 0;  // this library's constructor
  std::uint64_t first_init_enter = 0, first_init_leave = 0;
  std::uint64_t last_finalize_enter = 0, last_finalize_leave = 0;
  // Durations. They are sums, because a program with sessions may start and end MPI several times.
  std::uint64_t init = 0, net = 0, finalize = 0;
  unsigned inits = 0, finalizes = 0;
  const char* entered = "";  // the first function by which the program started MPI
  rusage net_begin{}, net_end{};
};

std::uint64_t now_ns() noexcept;

// Reads the environment now, because the program may change it later. False if nothing is to be recorded.
bool prepare_record() noexcept;

// Appends the record by one write with O_APPEND, because the ranks of a node share the file. Reports a failure on
// stderr. Preserves errno.
void write_record(const Times& times) noexcept;

}  // namespace tare::timing
