// Messages that MPI_Mprobe or MPI_Improbe has matched, until they are received: the call that receives one is told no
// communicator.
//
// Of more than a few hundred at a time some are forgotten. Thread-safe; any thread may receive a message.
#pragma once

#include <cstdint>

#include "format/record.h"

namespace tare::mpi {

struct Message {
  std::uint64_t handle = 0;  // 0: none
  std::uint32_t communicator = format::no_communicator;
  std::int32_t peer = format::no_peer;
  std::int32_t tag = format::no_tag;
};

void add_message(const Message& message) noexcept;
// The message of a handle, which is forgotten; what is absent says all, if it is not known.
Message take_message(std::uint64_t handle) noexcept;

}  // namespace tare::mpi
