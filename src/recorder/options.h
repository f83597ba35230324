// What the library that links the recorder adds to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "format/control.h"
#include "format/sweet_spot.h"
#include "recorder/source.h"

namespace tare::recorder {

// An event of the program that the monitor records.
enum class SpanEvent : std::uint8_t { enter, leave, count };

// What a monitored program learns about its tree and the cost of offloads. Times are in nanoseconds. A negative value
// is not known; for an overall cost, which may be negative, its deviation says so.
struct MonitorFindings {
  format::SweetSpot spot;
  double direct_ns = -1;
  double direct_deviation_ns = -1;
  double overall_ns = -1;
  double overall_deviation_ns = -1;
};

// The part of online monitoring in the process (src/monitor). No function allocates, throws or waits longer than
// TARE_MONITOR says.
struct MonitorHooks {
  // The size of the ring of snapshots for the text of TARE_MONITOR. If the text is wrong, 0, with a line on stderr.
  std::uint64_t (*ring_bytes)(const char* text) noexcept;
  // A thread has got its location.
  void (*begin_thread)(Location& location) noexcept;
  // The program has reached an offload point.
  void (*offload)(Location& location) noexcept;
  // A call has ended at `ticks`, at or after `offload_due`.
  void (*due)(Location& location, std::uint64_t ticks) noexcept;
  // A region was entered or left, or a counter has a new value (the bits of a double).
  void (*span)(Location& location, SpanEvent event, std::uint32_t type, std::uint64_t value) noexcept;
  // What is known about profiles of so many events; 0: of as many as the program's profiles have.
  void (*find)(std::uint32_t events, MonitorFindings& found) noexcept;
  // The next message of a user to this rank, and how many were lost so far. False if there is none.
  bool (*control)(format::ControlMessage& message, std::uint64_t& lost) noexcept;
  // For a forked child.
  void (*forked)() noexcept;
};

struct Options {
  std::size_t location_bytes = 0;  // size of the type derived from Location; zero-initialised memory
  std::uint32_t rows = 0;          // of a location's profile table; at least 1
  bool requests = false;           // whether the segment has a request table
  // nullptr: a process with this library is never monitored.
  const MonitorHooks* monitor = nullptr;
  // In the order in which their hooks are called, at most 31.
  std::span<const Source* const> sources{};
};

// Each library that records defines it once: libtare.so in src/preload/options.cpp, libtare_record.so in
// record_only.cpp. It is a constant, because the first call may come before any constructor of the library has run.
[[gnu::visibility("hidden")]] extern constinit const Options library_options;

}  // namespace tare::recorder
