// The MPI records of calls: messages, requests and collective operations.
#pragma once

#include <otf2/otf2.h>

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "exporters/matched_ends.h"
#include "exporters/otf2/communicator_numbers.h"
#include "format/record.h"
#include "reader/events/event_filter.h"
#include "reader/events/event_stream.h"
#include "reader/matching/call_role.h"
#include "reader/run/run.h"

namespace tare::exporters::otf2 {

// What OTF2 has for a function of MPI.
OTF2_RegionRole role_of(std::uint16_t function);
// For collective operations on communicators; none if OTF2 does not know the operation.
std::optional<OTF2_CollectiveOp> collective_op_of(std::uint16_t function);

// Numbers as OTF2's records have them.
inline std::uint64_t request_key(std::uint32_t thread, std::uint32_t request) {
  return std::uint64_t{thread} << 32 | request;
}
// Nothing is known about failed calls.
inline std::uint64_t or_none(std::uint64_t bytes) { return bytes == format::no_bytes ? 0 : bytes; }
// Requests, or accesses to a window, of a process. Those that are freed are never completed and must not accumulate;
// what is beyond has no completion record. This is more than tare keeps at a time.
inline constexpr std::size_t max_under_way = 1U << 15;
inline std::uint32_t as_u32(std::int32_t value) { return static_cast<std::uint32_t>(value); }

// Where records go: one location.
struct Sink {
  OTF2_EvtWriter* writer = nullptr;
  OTF2_ErrorCode failure = OTF2_SUCCESS;
  bool in_collective = false;

  void check(OTF2_ErrorCode code) {
    if (failure == OTF2_SUCCESS) failure = code;
  }
  // A record without attributes.
  template <class Record, class... Fields>
  void write(Record record, std::uint64_t time, Fields... fields) {
    check(record(writer, nullptr, time, fields...));
  }
};

// OTF2 readers pair messages as MPI does, by their order. So a message with only one end in the trace must not be
// written. If the trace is known to have gaps, only matched messages are written. After an unexpected loss, and if the
// beginning of the trace is left out, none are written. Nor are messages to other worlds, over communicators with
// unknown members, and to ranks that the filter does not want.
//
// Requests get numbers of their own, each used once in its process. A message that MPI_Mprobe has matched counts as a
// request from then on, because others of its channel may be received before it.
class MpiRecords {
 public:
  using Matched = std::optional<std::span<const MatchedEnd>>;  // Span::matched

  // `run` and `communicators` must outlive it.
  MpiRecords(reader::Run& run, const reader::EventFilter& filter, const CommunicatorNumbers& communicators);

  // To be called for each loss of records, in the order of the trace.
  void lose(const reader::EventRow& loss, const Matched& matched);
  // Calls are missing; which ones is not known.
  void lose() { obstacle_ = "calls were lost"; }
  // Whether the records of the call contain its peer, tag and bytes.
  bool will_tell(const reader::EventRow& row, const Matched& matched) const;
  // Writes the records after the enter of the call, and those before its leave.
  void begin(const reader::EventRow& row, const Matched& matched, std::uint64_t time, Sink& sink);
  void end(const reader::EventRow& row, const Matched& matched, std::uint64_t time, Sink& sink);
  // The reason why nothing is written, from some call on; empty if nothing is missing.
  const std::string& obstacle() const { return obstacle_; }

 private:
  struct Transfer {
    std::int32_t communicator, peer, peer_world, tag;
    std::uint64_t bytes;
  };
  struct Operation {
    OTF2_CollectiveOp op;
    std::int32_t communicator;
    std::uint32_t root;
    std::uint64_t sent, received;
  };
  // A request under way; 0: none.
  struct Started {
    std::uint64_t sent = 0, received = 0, collective = 0;
    bool is_exchange = false;
    Transfer receive{};
    Operation operation{};
  };
  struct Process {
    std::uint64_t last_request = 0;
    std::unordered_map<std::uint64_t, Started> started;  // by thread and number of the request
    // Requests of messages that were matched by a probe and not received yet: by communicator, source and tag.
    std::map<std::array<std::int32_t, 3>, std::deque<std::uint64_t>> probed;
  };

  bool is_known(const Transfer& of) const {
    return communicators_.has(of.communicator) && of.peer >= 0 && of.peer_world >= 0 &&
           (!ranks_ || ranks_->contains(of.peer_world));
  }
  void start_send(const Transfer& of, std::uint64_t time, Sink& sink, Process& process, Started& started);
  void start_receive(const Transfer& of, std::uint64_t time, Sink& sink, Process& process, Started& started);
  // 0: no probe has matched it.
  static std::uint64_t take_probed(Process& process, const Transfer& of);
  void receive(const reader::EventRow& row, const Matched& matched, const Transfer& of, std::uint64_t time, Sink& sink);
  void begin_starts(const reader::EventRow& row, const Matched& matched, std::uint64_t time, Sink& sink);
  void start(const reader::EventRow& row, std::uint32_t request, const Started& started);
  void complete(const reader::EventRow& row, const reader::EventRequest& request, std::uint64_t time, Sink& sink);
  std::optional<Operation> operation_of(const reader::EventRow& row) const;

  const reader::Run& run_;
  const CommunicatorNumbers& communicators_;
  std::optional<std::unordered_set<std::int32_t>> ranks_;
  std::vector<reader::CallRole> roles_;  // by function, as the next
  std::vector<Process> processes_;
  std::string obstacle_;
};

}  // namespace tare::exporters::otf2
