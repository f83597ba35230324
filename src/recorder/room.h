// Room in shared memory, which MPI and the program need, too. A program that fits into it must also fit when it is
// measured, and containers have as little as 64 MiB.
//
// The rule: a new segment lies in shared memory if all files of tare there take at most an eighth of what others leave.
// If not, it lies in the run directory, where its memory is that of a file on disk: as fast, except when the kernel
// writes changed pages to the disk. A segment in shared memory grows, as threads come, while half of all stays free.
//
// A process knows neither how many others come nor what MPI is going to take. So it claims, before it takes anything:
// the size of its file, which takes no space yet, says what its threads will probably need. Processes that start at
// the same time see one another's claims. At worst all of them go to the run directory.
#pragma once

#include <cstdint>

namespace tare::recorder {

inline constexpr char shared_memory[] = "/dev/shm";

// Claims `bytes` bytes for the new file `path` in `directory`. False, and nothing is claimed, if the rule forbids it.
bool claim_room(const char* directory, const char* path, std::uint64_t bytes) noexcept;

// Whether half of the shared memory stays free if so many more bytes are taken.
bool leaves_half(const char* directory, std::uint64_t bytes) noexcept;

// Whether a file of so many bytes, which several processes must find in the same place, lies in shared memory: if it
// is at most a sixteenth of it. This depends on nothing that changes, so all processes get the same answer.
bool suits_all(const char* directory, std::uint64_t bytes) noexcept;

}  // namespace tare::recorder
