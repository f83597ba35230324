// How the operating system scheduled a thread: when it ran on a processor, when it was descheduled (it could have run,
// but others had the processors), and when it was blocked (it slept, waited in the kernel, or was stopped). Part of the
// block of a location (location_block.h).
#pragma once

#include <cstdint>

namespace tare::format {

// Time in which a thread ran on no processor, in ns. Also on disk. The rest of `ns` is time in which it was blocked.
struct OffProcessor {
  std::uint64_t ns;
  std::uint64_t descheduled_ns;
  std::uint64_t unknown_ns;  // the kernel does not tell which of the two
};

// A part of the run in which a thread was off its processor for a while. Also on disk. It is one interval between two
// calls of MPI, or one call, unless there was no room for each of them: then it has the sums of several.
struct SchedulingSpan {
  std::uint64_t begin, end;  // ticks
  OffProcessor outside;      // MPI
  OffProcessor in_calls;
};
static_assert(sizeof(SchedulingSpan) == 64);

inline constexpr unsigned max_scheduling_spans = 1024;
inline constexpr unsigned processor_words = 16;

// Readings of one location, and what they give in sum. Also on disk, followed by its spans. A reading is made at the
// begin or the end of a call of MPI, if the last one was a millisecond ago or longer. Of what happened between two of
// them it is known that it was in the call, or in the time before it, which the second one ends, as far as that is long
// enough for it; of the rest it is not known where it was. Of a thread that is not the first of its process and has
// not called MPI, readings are made after its calls of other sources and at its end. They count from its begin on,
// whatever the process does: observed_ns less all.ns is the processor time that it had when it was seen last.
struct SchedulingSums {
  std::uint64_t readings;
  std::uint64_t cost_ticks;                // what they took
  std::uint64_t observed_ns;               // time between them, from MPI_Init to MPI_Finalize; but see above
  OffProcessor all;                        // part of it: on no processor
  OffProcessor outside;                    // part of that: known to be outside MPI
  std::uint64_t switches;                  // context switches: because the thread had to wait,
  std::uint64_t preemptions;               // and because the kernel took the processor from it
  std::uint64_t page_faults;               // without reading from a disk,
  std::uint64_t major_page_faults;         // and with
  std::uint64_t shortest_ns;               // spans that are shorter than this off a processor are added to one another
  std::uint32_t block;                     // the location
  std::uint32_t spans;                     // that follow
  std::uint64_t allowed[processor_words];  // processors on which the thread may run, as a bit field; those from 1024 on
                                           // are left out
};
static_assert(sizeof(SchedulingSums) == 248);

}  // namespace tare::format
