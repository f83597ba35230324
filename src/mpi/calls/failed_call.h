// Calls that return an error.
#pragma once

#include <cstdint>

#include "mpi/calls/thread.h"

namespace tare::mpi {

// Counts a call of a function that has returned an error. What it was to send, receive or bring together may not have
// come about, so who reads counts of calls must know of it.
[[gnu::cold]] void count_failed(const Thread& thread, std::uint16_t function) noexcept;

}  // namespace tare::mpi
