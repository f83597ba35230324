// How a message is named: by its channel and its number in it. README.md has the rule by which both sides
// give it the same number, and its proof.
#pragma once

#include <cstdint>

#include "format/mix.h"

namespace tare::mpi::sampling {

using format::mix;

// The channel (communicator, source, destination, tag), named alike on both sides: ranks are those in MPI_COMM_WORLD,
// because those of an intercommunicator mean another group on each side.
constexpr std::uint64_t channel_of(std::uint64_t communicator_key, std::int32_t source, std::int32_t destination,
                                   std::int32_t tag) noexcept {
  const std::uint64_t ends =
      std::uint64_t{static_cast<std::uint32_t>(source)} << 32 | static_cast<std::uint32_t>(destination);
  const std::uint64_t id =
      mix(mix(mix(communicator_key + 0x9e3779b97f4a7c15U) ^ ends) + static_cast<std::uint32_t>(tag));
  return id == 0 ? 1 : id;  // 0 is a channel without a common name
}

// A communicator as channels are named by it. `peers` is the group of those that messages go to and come from.
struct Endpoint {
  std::uint32_t communicator;  // number in this process
  std::uint64_t key;           // equal on all members; 0: it has none
  const void* peers;
};

enum class RecordKind : std::uint32_t {
  message,  // a chosen message
  retract,  // what was said of the messages `number` to `bytes` of the channel is not sure any more
  flush,    // the sender has nothing more to say (between nodes)
};

// What a sender says of a chosen message.
struct MessageRecord {
  std::uint64_t channel;
  std::uint64_t number;  // in the channel, from 1
  std::uint64_t start;   // ticks of the node's clock; between nodes, nanoseconds of the first node's clock
  std::uint64_t bytes;
  RecordKind kind;
  std::uint32_t site;            // number in the process of the sender
  std::int32_t source;           // rank in MPI_COMM_WORLD
  float weight;                  // 1 / probability of the choice; 0: not known
  std::uint32_t uncertainty_ns;  // of start, between nodes
  std::uint32_t final;           // 1: it will not be retracted
};
static_assert(sizeof(MessageRecord) == 56);

}  // namespace tare::mpi::sampling
