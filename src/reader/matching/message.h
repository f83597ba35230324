// Messages and collective operations of a trace.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "format/record.h"
#include "reader/matching/call_role.h"

namespace tare::reader {

// A call of a trace that takes part in communication.
struct PartCall {
  std::int64_t enter_ns = 0;  // Unix time
  std::int64_t leave_ns = 0;
  std::uint64_t number = 0;  // of the call in its thread, from 0
  std::uint32_t thread = 0;
  std::int32_t site = -1;  // index in Run::sites()
  std::uint16_t function = 0;
  std::uint32_t request = format::no_request;  // in Part::posted: number of the request that it started
};

// The part of one rank in a message or a collective operation.
struct Part {
  std::int32_t rank = -1;    // -1: not in the trace
  bool is_complete = false;  // `completed` is known
  PartCall posted;           // the call that sent, posted the receive, or began the collective operation
  PartCall completed;        // the call that completed it; for a blocking call the same
  std::uint64_t bytes = format::no_bytes;
  // Of a receive: messages to the rank that had been sent, and for which no receive had been posted, when it was
  // posted.
  std::optional<std::uint32_t> queued{};
};

// A point-to-point message. If it was sent and never received, `received` has rank -1, and vice versa.
struct Message {
  std::int32_t world = 0;
  std::int32_t communicator = -1;              // index in Run::communicators()
  std::int32_t source = -1, destination = -1;  // ranks of the world
  std::int32_t tag = 0;
  Part sent, received;

  bool is_matched() const { return sent.rank >= 0 && received.rank >= 0; }
  bool is_unexpected() const {
    return is_matched() && sent.is_complete && sent.completed.leave_ns < received.posted.enter_ns;
  }
};

// One end of a message or collective operation, with the call of another rank that it had to wait for. It is known when
// its own part is complete and the other one has begun.
struct End {
  enum class Kind : std::uint8_t {
    received,
    sent,
    collective,
    // One-sided; see matcher.h:
    posted,
    accessed,
    completed,
    unlocked,
    progress,
  };
  Kind kind = Kind::received;
  CallRole role = CallRole::local;  // for a collective
  std::int32_t world = 0, communicator = -1;
  std::int32_t rank = -1, other_rank = -1;  // of the world
  std::int32_t tag = format::no_tag;
  PartCall posted, completed;  // calls of `rank`
  // The call of `other_rank`: for Kind::received, the call that sent the message; for Kind::sent, the call that posted
  // the receive; for a collective, the call of the last rank that it needs; for one-sided accesses, see matcher.h.
  PartCall other;
  std::uint64_t bytes = format::no_bytes;  // for Kind::sent: of the message
  std::optional<std::uint32_t> queued{};   // for Kind::sent: of the receive, see Part

  // For Kind::sent: the send was complete before the receive was posted, so MPI had to keep the message.
  bool is_unexpected() const { return completed.leave_ns < other.enter_ns; }
};

// One collective operation on a communicator, window or file.
struct Collective {
  std::int32_t world = 0;
  std::int32_t communicator = -1;
  std::int32_t scope = -1;       // window or file: index in Run::scopes()
  std::uint64_t number = 0;      // among the operations on its communicator or scope, from 0
  std::int32_t root_world = -1;  // rank of the root in the world; -1: it has none
  std::uint16_t function = 0;    // the function that the first rank called
  std::int32_t size = 0;         // number of members
  std::vector<Part> parts;       // of the ranks that have begun it, in the order of the trace
};

}  // namespace tare::reader
