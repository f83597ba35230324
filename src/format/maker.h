// The process that made a segment, for those who want to know whether it lives (liveness.h). Part of the segment.
//
// A process id says nothing outside its PID namespace. So the process holds the mark: a read lock on the first byte of
// the segment's file, on an open file description that only a mapping keeps open. The kernel releases it when the
// process dies or calls exec; closing all file descriptors does not, and a forked child does not inherit it.
#pragma once

#include <cstdint>

namespace tare::format {

struct Maker {
  std::uint64_t machine;        // machine_name() (machine.h)
  std::uint64_t pid_namespace;  // in which ProcessRecord::pid is its number; 0: not known
  std::uint64_t start_ticks;    // its starttime in /proc/PID/stat; 0: not known
  std::uint64_t is_marked;      // 1: it holds the mark. There are file systems without such locks
};

}  // namespace tare::format
