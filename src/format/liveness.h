// Whether the process that made a segment lives. Whoever wants to know it asks here.
#pragma once

#include <string>

#include "format/maker.h"

namespace tare::format {

enum class Life {
  gone,    // it has died, or has executed another program
  lives,   // it maps the segment
  unknown  // nothing here tells: it is on another machine, or has no mark and is in another PID namespace
};

// `segment`: an open descriptor of the segment's file, and the name of that file. `pid`: of the process, in its own
// PID namespace.
Life life_of(int fd, const std::string& segment, unsigned pid, const Maker& maker);

// The same for a segment whose process has not written who it is yet.
Life life_of_beginner(int fd, const std::string& segment, unsigned pid);

// Whether a process holds the mark of the segment (maker.h).
bool is_marked(int fd);

// Whether the process ran on this machine, so that its clocks are those of this process.
bool is_here(const Maker& maker);

// Whether the pid of the process is its number here, too.
bool shares_pids(const Maker& maker);

// Whether the process `pid` was stopped by a signal or a debugger.
bool is_stopped(unsigned pid, const Maker& maker);

}  // namespace tare::format
