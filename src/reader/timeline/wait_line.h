// Waits and the critical path as intervals of the rows of a timeline.
#pragma once

#include <cstdint>
#include <vector>

#include "reader/time_arithmetic.h"
#include "reader/waits/wait_state.h"

namespace tare::reader {

struct WaitLine {
  std::uint32_t row;               // index in Timeline::rows()
  std::int64_t start_ns, wait_ns;  // start: Unix time, that of the call that waits
  std::uint32_t cause_row;         // the row that was waited for
  std::int64_t cause_ns;           // when it began the call that was waited for
  std::int32_t site;               // where the waiting call is made
  std::uint16_t function;
  WaitKind kind;
};
inline std::int64_t length_ns(const WaitLine& of) { return of.wait_ns; }

struct PathLine {
  std::uint32_t row;
  std::int64_t begin_ns, end_ns;
};
inline std::int64_t length_ns(const PathLine& of) { return difference(of.end_ns, of.begin_ns); }

struct WaitLines {
  std::vector<std::vector<WaitLine>> of_row{};  // by row, in the order of time
  std::vector<PathLine> path{};                 // of each world, in the order of time
};

}  // namespace tare::reader
