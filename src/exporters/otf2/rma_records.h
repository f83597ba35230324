// The RMA records of one-sided calls: accesses, when they are complete, and fences.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "exporters/otf2/mpi_records.h"
#include "reader/events/event_stream.h"
#include "reader/run/run.h"

namespace tare::exporters::otf2 {

// An access gets a number of its own in its process. Which rank waits for which is not said, so losses of records spoil
// nothing but the completion of accesses. Left out are accesses of windows whose communicator has no definition, or
// whose key is not known: their ranks do not know that they mean the same window.
class RmaRecords {
 public:
  // `written`: by communicator, whether it is defined. Both must outlive it.
  RmaRecords(const reader::Run& run, const std::vector<bool>& written);

  // Whether the records of the call say its peer and bytes.
  bool will_tell(const reader::EventRow& row) const;
  // What is behind the enter of the call, and what is before its leave.
  void begin(const reader::EventRow& row, std::uint64_t time, Sink& sink);
  void end(const reader::EventRow& row, std::uint64_t time, Sink& sink);

  // Windows of which there are records: places in Run::scopes(), which are their numbers in the archive.
  const std::set<std::int32_t>& windows() const { return windows_; }

 private:
  enum class Access : std::uint8_t { none, put, get, accumulate, fetch_and_accumulate, compare_and_swap };
  // What a call completes of the accesses before it; `locally`: at their origin alone.
  enum class Completes : std::uint8_t { nothing, target, all, target_locally, all_locally };
  struct Function {
    Access access = Access::none;
    Completes completes = Completes::nothing;
    bool is_fence = false;
  };
  struct UnderWay {
    std::int32_t target;
    std::uint64_t number;
  };
  struct Process {
    std::uint64_t last = 0;
    std::map<std::int32_t, std::vector<UnderWay>> under_way;                               // by window
    std::unordered_map<std::uint64_t, std::pair<std::int32_t, std::uint64_t>> by_request;  // window and number
  };

  static Function meaning(const std::string& name);
  bool is_written(std::int32_t scope) const;
  void complete(const reader::EventRow& row, std::uint64_t time, Sink& sink, Completes which);
  void complete_requests(const reader::EventRow& row, std::uint64_t time, Sink& sink);

  const reader::Run& run_;
  const std::vector<bool>& written_;
  std::vector<Function> functions_;
  std::vector<Process> processes_;
  std::set<std::int32_t> windows_;
};

}  // namespace tare::exporters::otf2
