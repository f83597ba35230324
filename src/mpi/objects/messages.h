// Messages that MPI_Mprobe or MPI_Improbe has matched, until they are received. The call that receives one has no
// communicator argument.
//
// A few hundred at a time; further ones are not known. Thread-safe. Any thread may receive a message.
#pragma once

#include <cstdint>

#include "format/record.h"

namespace tare::mpi {

struct Message {
  std::uint64_t handle = 0;  // 0: none
  std::uint32_t communicator = format::no_communicator;
  std::int32_t peer = format::no_peer;
  std::int32_t tag = format::no_tag;
  std::uint32_t receive = 0;  // the sampled receive, as its place (sampling/sampler.h); 0: none
};

void add_message(const Message& message) noexcept;
// Sets the sampled receive of a message that has been added. False if the message is not known.
bool note_receive(std::uint64_t handle, std::uint32_t receive) noexcept;
// Removes and returns the message of a handle. If it is not known, all values are those of an absent one.
Message take_message(std::uint64_t handle) noexcept;

}  // namespace tare::mpi
