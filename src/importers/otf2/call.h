// An MPI call of an archive: the outermost MPI region that a thread is in, and the MPI records in it.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "format/record.h"

namespace tare::importers::otf2 {

// `peer` is a rank of the communicator, whose number is tare's.
struct Message {
  std::uint32_t peer = 0, communicator = 0, tag = 0;
  std::uint64_t bytes = 0;
};
struct Start {
  Message message;
  std::uint32_t request;
  bool sends;
};
struct Completion {
  std::uint32_t request;
  std::uint64_t bytes;
  std::int32_t source, tag;
};
struct CollectiveEnd {
  OTF2_CollectiveOp op;
  std::uint32_t communicator, root;
  std::uint64_t sent, received;
};

struct Call {
  std::uint16_t function = 0;
  std::uint32_t site = 0;
  std::uint64_t enter = 0;  // ticks
  std::size_t depth = 0;    // regions that it lies in
  std::optional<Message> sent, received;
  std::vector<Start> starts;
  std::vector<Completion> completions;
  std::optional<CollectiveEnd> collective;
  std::uint32_t collective_request = format::no_request;
};

}  // namespace tare::importers::otf2
