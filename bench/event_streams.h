// Records as programs leave them in an event buffer, made up: the same at every run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace tare::bench {

struct Stream {
  std::string records;    // as in an event buffer
  std::size_t count = 0;  // calls and completions
  std::uint64_t end = 0;  // ticks
};

// One call again and again, with a little jitter in its times: workloads/null_calls.
Stream same_call(std::size_t calls);

// Isend, Irecv and a Waitall that completes both, small messages with few neighbours, as hypre's solvers do:
// workloads/diffusion. About `records` records.
Stream solver(std::size_t records);

// Every field as different as it can be: what no program does.
Stream random_calls(std::size_t calls);

}  // namespace tare::bench
