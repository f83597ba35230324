// A channel of messages, on the receiver's side (receives.h).
#pragma once

#include <cstdint>

#include "mpi/sampling/mailbox.h"

namespace tare::mpi::sampling {

struct ReceiveChannel {
  std::uint32_t communicator;  // number in this process
  std::uint32_t queue;         // 0: the communicator was freed
  std::int32_t source;
  std::int32_t tag;
  std::int32_t origin;      // the source's rank in MPI_COMM_WORLD
  std::uint32_t start;      // the last call that started a receive of the channel and others (Sampler::next_start)
  std::uint64_t id;         // channel_of(); 0: both sides cannot compute the same
  std::uint64_t count;      // numbers assigned
  std::uint64_t completed;  // highest number of a receive that has completed
  Mailbox* mailbox;         // from the source, on this node; nullptr: none yet
  std::uint32_t place;      // 1 + the source's place on this node; 0: it is on another
  std::uint32_t under_way;  // receives numbered by number() that have not completed
  std::uint32_t kept;       // the place of its last message in the ReceivedRing
  std::uint32_t posts;      // the word that stores a receive of it, without the number (numbered_bit); 0: not possible
  bool lost;                // the numbers are not known from now on

  void lose() noexcept {
    lost = true;
    posts = 0;
  }
};

}  // namespace tare::mpi::sampling
