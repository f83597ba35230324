// What a call does that other ranks may wait for, or that it waits for.
#pragma once

#include <cstdint>
#include <vector>

#include "format/function_meaning.h"
#include "reader/store/function_names.h"

namespace tare::reader {

enum class CallRole : std::uint8_t {
  local,  // waits for nobody
  send,
  synchronous_send,
  receive,
  exchange,  // MPI_Sendrecv
  starts,    // MPI_Start, MPI_Startall
  completes,
  to_all,     // collectives: every rank waits for every other
  from_root,  // every rank for the root
  to_root,    // the root for every rank
  scan,       // every rank for those below
  unknown,    // waits for what the trace does not tell, or for what is no network
};

CallRole role_of_call(const format::FunctionMeaning& function);
// By function number.
std::vector<CallRole> roles_of_calls(const FunctionNames& functions);

}  // namespace tare::reader
