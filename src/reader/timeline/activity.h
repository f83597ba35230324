// The classes of calls that a timeline distinguishes.
#pragma once

#include <array>
#include <cstdint>

namespace tare::reader {

// In the order of CLASSES in python/tare/page/call_sites.py. `flush` is no MPI call: tare writes an event buffer.
// `waiting`: a wait state, in calls of any class.
enum class Activity : std::uint8_t {
  send,
  receive,
  exchange,
  wait,
  collective,
  one_sided,
  file,
  other,
  flush,
  waiting,
};
inline constexpr std::size_t activities = 10;
inline constexpr std::array<const char*, activities> activity_names = {
    "send", "receive", "exchange", "wait", "collective", "one-sided", "file", "other", "flush", "waiting"};

// `function`: number in Run::functions().
Activity activity_of(std::uint16_t function);

}  // namespace tare::reader
