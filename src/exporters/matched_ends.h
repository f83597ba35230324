// Which calls of a trace with gaps belong to messages and collective operations that are there as a whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "reader/events/event_stream.h"
#include "reader/matching/message.h"
#include "reader/result.h"
#include "reader/run/run.h"

namespace tare::exporters {

// What a call does of a message whose both ends are known, or of a collective operation of which all parts are.
struct MatchedEnd {
  enum class Kind : std::uint8_t {
    sent,        // it sends the message, or starts to
    posted,      // it posts the receive, or receives
    received,    // it completes the receive
    collective,  // it takes part in the operation, or starts to
  };
  std::uint64_t message = 0;     // number of the message, the same at both ends, from 1; 0 of a collective operation
  std::uint32_t request = 0;     // that the call starts; format::no_request if it does all by itself
  std::int32_t other_rank = -1;  // of the world: of the message's other end
  Kind kind = Kind::sent;
};

// Numbers of calls do not tell what belongs together behind a gap, so the trace is read twice: first by
// reader::Matcher, which knows where ranks begin anew, and then with what it has found. Holds 32 bytes for each end of
// a message.
class MatchedEnds {
 public:
  // Whether it is known, before the trace is read, that calls are missing from it.
  static bool has_gaps(reader::Run& run);
  // Reads the whole trace. The run must outlive it. `goes_on` is asked now and then; nothing is returned if it says no.
  static reader::Result<std::optional<MatchedEnds>> read(reader::Run& run,
                                                         const std::function<bool(std::uint64_t)>& goes_on);

  // Those of a call. To be called with every call of the ranks that are looked at, in the order of the trace. They are
  // valid as long as this.
  std::span<const MatchedEnd> of_call(const reader::EventRow& call);
  // Why messages are missing, for people.
  const std::string& reason() const { return reason_; }

 private:
  using Thread = std::tuple<std::int32_t, std::int32_t, std::uint32_t>;  // world, rank, thread
  struct Calls {
    std::vector<std::uint64_t> numbers;  // of the call, by end
    std::vector<MatchedEnd> ends;        // in the order of calls
    std::uint64_t next_call = 0;
    std::size_t next_end = 0;
  };

  void add(const reader::Message& message, std::uint64_t number);
  void add(const reader::Collective& collective);
  void add(std::int32_t world, std::int32_t rank, const reader::PartCall& call, const MatchedEnd& end);
  void sort();

  std::map<Thread, Calls> calls_;
  std::string reason_;
};

}  // namespace tare::exporters
