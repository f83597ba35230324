// One MPI call, on its way from a wrapper to the profile and the event buffer.
#pragma once

#include <cstdint>

#include "format/record.h"

namespace tare::recorder {

// The directions in which a call moves data, and how it is recorded.
enum Traffic : unsigned {
  no_traffic = 0,
  sends = 1,            // `bytes` are a message to the peer, or are put into its window
  receives = 2,         // `bytes` come from it
  exchanges = 4,        // the call may have received data in addition to `bytes`
  scoped = 8,           // it works on a window or file
  may_be_untimed = 16,  // not every call is timed (timing_sample.h)
  may_be_thinned = 32   // the same, while the thread thins out timing
};

// One MPI call, as its wrapper measured it.
struct Call {
  std::uint64_t enter;  // both: ticks, set when it is made
  std::uint64_t leave;
  std::uint64_t bytes = format::no_bytes;
  std::uint64_t received = format::no_bytes;  // this and the next two: only for calls that send and receive
  std::int32_t peer = format::no_peer;
  std::int32_t tag = format::no_tag;
  std::int32_t source = format::no_peer;
  std::int32_t source_tag = format::no_tag;
  std::uint32_t communicator = format::no_communicator;
  std::uint32_t scope = 0;  // only for calls on a window or file: its number, or 0 if it is not known
  std::uint32_t request = format::no_request;
  std::uint32_t site = 0;        // number of the call site; 0: none
  std::uint32_t stands_for = 1;  // how many calls this one represents: itself, and the untimed ones before it
  std::uint16_t function = 0;
};

}  // namespace tare::recorder
