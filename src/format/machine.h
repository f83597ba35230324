// Names of 64 bits for what processes have in common. Two processes for which such a name is equal share it, whatever
// the host is called: containers may have one host name, and no memory and no process ids in common.
//
// These functions run in the measured program, too: they are no cancellation points, and may change errno.
#pragma once

#include <cstddef>
#include <cstdint>

#include "format/mix.h"

namespace tare::format {

// A step of the hash that makes them.
constexpr std::uint64_t hashed_with(std::uint64_t name, std::uint64_t word) noexcept {
  return mix(name + golden_gamma + word);
}
std::uint64_t hashed_with(std::uint64_t name, const char* bytes, std::size_t count) noexcept;

// The running kernel: this start of this machine. Never 0.
std::uint64_t machine_name() noexcept;

// The memory behind files in `directory`, which each container on a machine may have for itself. 0 if there is no such
// directory.
std::uint64_t shared_memory_name(const char* directory) noexcept;

// The PID namespace of this process, if /proc shows that one; else 0.
std::uint64_t pid_namespace_name() noexcept;

}  // namespace tare::format
