// The classes of calls that a timeline distinguishes.
#pragma once

#include <array>
#include <cstdint>

namespace tare::reader {

// In the order of CLASSES in python/tare/page/call_sites.py. `openmp`: constructs of OpenMP, of any class.
// `flush` is no call: tare writes an event buffer. `waiting`: a wait state, in calls of any class. `untraced`: a gap in
// the trace.
enum class Activity : std::uint8_t {
  send,
  receive,
  exchange,
  wait,
  collective,
  one_sided,
  file,
  openmp,
  other,
  flush,
  waiting,
  untraced,
};
inline constexpr std::size_t activities = 12;
inline constexpr std::array<const char*, activities> activity_names = {
    "send", "receive", "exchange", "wait",  "collective", "one-sided",
    "file", "openmp",  "other",    "flush", "waiting",    "untraced"};

// `function`: number in Run::functions().
Activity activity_of(std::uint16_t function);

}  // namespace tare::reader
