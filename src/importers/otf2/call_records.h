// An MPI call of an archive: the outermost MPI region that a thread is in, and the MPI records in it.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "format/record.h"
#include "importers/run_file.h"

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

// Converts calls to the records that tare's recorder would have written.
// For one thread. OTF2 says only at completion where a message came from, and what a nonblocking collective moved.
// tare's record says it at the start. So the record is kept until its request completes.
class CallRecords {
 public:
  // The writer must outlive it.
  explicit CallRecords(ThreadWriter& writer) : writer_(writer) {}

  // `is_matched_probe`: its request is that of the receive that it represents.
  void add(const Call& call, std::uint64_t leave, bool is_matched_probe);

  // Completes the record that started the request. Does nothing if another thread started it, or it was written out.
  void complete_receive(std::uint32_t request, const Message& of);
  void complete_collective(std::uint32_t request, const CollectiveEnd& of);
  void remove(std::uint32_t request) { waiting_.erase(request); }

 private:
  static constexpr std::size_t none = SIZE_MAX;
  struct Waiting {
    std::size_t at;            // position of the record
    bool is_start;             // a StartRecord; else the record of a call
    std::size_t probe = none;  // position of the record of the probe that has matched the message
  };

  void add_starts(const Call& call);

  ThreadWriter& writer_;
  std::unordered_map<std::uint32_t, Waiting> waiting_;  // by request
  // Requests of matched probes that no call has received yet, the oldest first. The archive has them at the probe.
  std::vector<std::uint32_t> probed_;
};

}  // namespace tare::importers::otf2
