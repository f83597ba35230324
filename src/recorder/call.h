// One MPI call, on its way from a wrapper to the profile and the event buffer.
#pragma once

#include <cstdint>

#include "format/record.h"

namespace tare::recorder {

// What a call moves between this rank and its peer, for the table of peers.
enum Traffic : unsigned {
  no_traffic = 0,
  sends = 1,            // `bytes` are a message to the peer, or are put into its window
  receives = 2,         // `bytes` come from it
  exchanges = 4,        // it may have received something beside `bytes`
  scoped = 8,           // it works on a window or file
  may_be_untimed = 16,  // not every call is timed (timing_sample.h)
  may_be_thinned = 32   // the same, where the thread thins out timing
};

// One MPI call as its wrapper has measured it.
struct Call {
  std::uint64_t enter;  // both: ticks, set when it is made
  std::uint64_t leave;
  std::uint64_t bytes = format::no_bytes;
  std::uint64_t received = format::no_bytes;  // this and the next two: only of calls that send and receive
  std::int32_t peer = format::no_peer;
  std::int32_t tag = format::no_tag;
  std::int32_t source = format::no_peer;
  std::int32_t source_tag = format::no_tag;
  std::uint32_t communicator = format::no_communicator;
  std::uint32_t scope = 0;  // only of calls on a window or file: its number; 0 if that is not known
  std::uint32_t request = format::no_request;
  std::uint32_t site = 0;        // number of the call site; 0: none
  std::uint32_t stands_for = 1;  // calls: itself, and those before it that were not timed
  std::uint16_t function = 0;
};

}  // namespace tare::recorder
