// Converts calls to the records that tare's recorder would have written.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "importers/otf2/call.h"
#include "importers/run_file.h"

namespace tare::importers::otf2 {

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
  struct Waiting {
    std::size_t at;  // position of the record
    bool is_start;   // a StartRecord; else the record of a call
  };

  void add_starts(const Call& call);

  ThreadWriter& writer_;
  std::unordered_map<std::uint32_t, Waiting> waiting_;  // by request
};

}  // namespace tare::importers::otf2
