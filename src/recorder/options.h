// What the library that the recorder is linked into adds to it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "format/sweet_spot.h"

namespace tare::recorder {

struct Location;

// What a program tells of itself in a run that is monitored.
enum class SpanEvent : std::uint8_t { enter, leave, count };

// What a monitored program is told of its tree, and of the cost of offloads. Times are nanoseconds; what is not known
// is negative, but an overall cost may be, too, if its deviation is not.
struct MonitorKnows {
  format::SweetSpot spot;
  double direct_ns = -1;
  double direct_deviation_ns = -1;
  double overall_ns = -1;
  double overall_deviation_ns = -1;
};

// The part of online monitoring that is in the process (src/monitor). None of them allocates, throws or waits longer
// than TARE_MONITOR says.
struct MonitorHooks {
  // Bytes of the ring of snapshots, by the text of TARE_MONITOR; 0, and a line on stderr, if it is wrong.
  std::uint64_t (*ring_bytes)(const char* text) noexcept;
  // A thread has got its location.
  void (*begin_thread)(Location& location) noexcept;
  // The program has come to an offload point.
  void (*offload)(Location& location) noexcept;
  // A call has ended at `ticks`, and `offload_due` has come.
  void (*due)(Location& location, std::uint64_t ticks) noexcept;
  // A region is entered or left, or a counter has got a value (the bits of a double).
  void (*span)(Location& location, SpanEvent event, std::uint32_t type, std::uint64_t value) noexcept;
  // What is known of profiles of so many events; 0: of the program's.
  void (*find)(std::uint32_t events, MonitorKnows& found) noexcept;
  // In a forked child.
  void (*forked)() noexcept;
};

struct Options {
  std::size_t location_bytes = 0;  // size of the type derived from Location; zero-initialised memory
  std::uint32_t rows = 0;          // of a location's profile table, at least 1
  bool requests = false;           // whether the segment has a request table
  // Room for classes of sampled messages, asked once for each segment; 0: messages are not sampled. May be nullptr.
  std::uint32_t (*sample_classes)() noexcept = nullptr;
  // Called in a thread that has got its location, which may have been another's; may be nullptr.
  void (*started)(Location& location) noexcept = nullptr;
  // Called in a thread that pauses; may be nullptr.
  void (*pauses)(Location& location) noexcept = nullptr;
  // Called in a thread that has a location: it ends, and so has left whatever it was in; the process exits, in this
  // thread. May be nullptr.
  void (*ended)(Location& location) noexcept = nullptr;
  void (*exiting)(Location& location) noexcept = nullptr;
  // Changes what messages are sampled; nullptr, or what is wrong with the text. May be nullptr.
  const char* (*change_sampling)(const char* spec) noexcept = nullptr;
  // Whether requests are under way that calls of this thread may complete; asked where a spell begins that does
  // not measure (spells.h). May be nullptr.
  bool (*has_open_requests)() noexcept = nullptr;
  // A spell begins, in this thread, that only counts, or it does not only count any more; may be nullptr.
  void (*spell_begins)(const Location& location) noexcept = nullptr;
  // nullptr: this library is never monitored.
  const MonitorHooks* monitor = nullptr;
  // Called in a forked child, where what the parent recorded is forgotten; may be nullptr.
  void (*forked)() noexcept = nullptr;
};

// Each library that records defines it once: libtare.so in src/mpi/recorder_options.cpp, libtare_record.so in
// record_only.cpp. It is a constant and not registered at run time, because the first call may come before any
// constructor of the library has run.
[[gnu::visibility("hidden")]] extern constinit const Options library_options;

}  // namespace tare::recorder
