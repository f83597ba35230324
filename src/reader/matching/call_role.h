// The role of a call in communication: what other ranks may wait for in it, and what it waits for.
#pragma once

#include <cstdint>
#include <vector>

#include "format/function_meaning.h"
#include "reader/events/event_row.h"
#include "reader/store/function_names.h"

namespace tare::reader {

enum class CallRole : std::uint8_t {
  local,  // waits for no other rank
  send,
  synchronous_send,
  receive,
  exchange,  // MPI_Sendrecv
  starts,    // MPI_Start, MPI_Startall
  completes,
  to_all,     // a collective in which every rank waits for every other
  from_root,  // every rank waits for the root
  to_root,    // the root waits for every rank
  may_wait,   // a collective of a file: which ranks wait for which, the implementation knows
  scan,       // every rank waits for those below
  unknown,    // waits for something that the trace does not show, or that is not communication
};

CallRole role_of_call(const format::FunctionMeaning& function);
// By function number.
std::vector<CallRole> roles_of_calls(const FunctionNames& functions);

// Whether a call that sends, or sends and receives, has sent its message. One that failed has no bytes.
inline bool has_sent(const EventRow& row) { return row.bytes != format::no_bytes; }

}  // namespace tare::reader
