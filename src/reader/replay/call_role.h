// What a call does that other ranks may wait for, or that it waits for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

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

// Of "MPI_Send" and its kin, large counts ("MPI_Send_c") and forms that start a request included.
CallRole role_of_call(std::string name);
// By function number.
std::vector<CallRole> roles_of_calls(const FunctionNames& functions);

}  // namespace tare::reader
