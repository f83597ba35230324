// The RMA records of one-sided calls: accesses, their completion, and fences.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "exporters/otf2/communicator_numbers.h"
#include "exporters/otf2/mpi_records.h"
#include "format/function_meaning.h"
#include "reader/events/event_stream.h"
#include "reader/run/run.h"

namespace tare::exporters::otf2 {

// Each access gets a number in its process. Readers do not pair ranks, so losses of records only affect the completion
// of accesses. Accesses are left out if the communicator of the window has no definition, or its key is not known,
// because then its ranks cannot be recognised as sharing a window.
class RmaRecords {
 public:
  // Both must outlive it.
  RmaRecords(const reader::Run& run, const CommunicatorNumbers& communicators);

  // Whether the records of the call contain its peer and bytes.
  bool will_tell(const reader::EventRow& row) const;
  // Writes the records after the enter of the call, and those before its leave.
  void begin(const reader::EventRow& row, std::uint64_t time, Sink& sink);
  void end(const reader::EventRow& row, std::uint64_t time, Sink& sink);

  // Windows with records, as indices in Run::scopes(), in the order of their numbers in the archive.
  const std::vector<std::int32_t>& windows() const { return windows_; }

 private:
  struct UnderWay {
    std::int32_t target;
    std::uint64_t number;
  };
  struct Process {
    std::uint64_t last = 0;
    std::map<std::int32_t, std::vector<UnderWay>> under_way;                               // by window
    std::unordered_map<std::uint64_t, std::pair<std::int32_t, std::uint64_t>> by_request;  // window and number
  };

  bool is_written(std::int32_t scope) const;
  OTF2_RmaWinRef number_of(std::int32_t scope);
  void complete(const reader::EventRow& row, std::uint64_t time, Sink& sink, format::CompletesAccesses which);
  void complete_requests(const reader::EventRow& row, std::uint64_t time, Sink& sink);

  const reader::Run& run_;
  const CommunicatorNumbers& communicators_;
  std::vector<Process> processes_;
  std::vector<std::int32_t> windows_;
  std::map<std::int32_t, OTF2_RmaWinRef> numbers_;  // of the windows
};

}  // namespace tare::exporters::otf2
