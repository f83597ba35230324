// Messages that MPI_Mprobe or MPI_Improbe has matched, until they are received: the call that receives one is told no
// communicator.
//
// Of more than a few hundred at a time the last are not known. Thread-safe; any thread may receive a message.
#pragma once

#include <cstdint>

#include "format/record.h"

namespace tare::mpi {

struct Message {
  std::uint64_t handle = 0;  // 0: none
  std::uint32_t communicator = format::no_communicator;
  std::int32_t peer = format::no_peer;
  std::int32_t tag = format::no_tag;
  std::uint32_t receive = 0;  // place of its receive among those that are sampled (sampling/sampler.h); 0: none
};

void add_message(const Message& message) noexcept;
// The receive of a message that has been added; false if it is not known.
bool note_receive(std::uint64_t handle, std::uint32_t receive) noexcept;
// The message of a handle, which is forgotten; what is absent says all, if it is not known.
Message take_message(std::uint64_t handle) noexcept;

}  // namespace tare::mpi
