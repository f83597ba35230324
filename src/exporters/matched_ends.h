// Which calls of a trace with gaps belong to messages and collective operations that are complete in the trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "reader/events/event_stream.h"
#include "reader/matching/message.h"
#include "reader/result.h"
#include "reader/run/run.h"

namespace tare::exporters {

// The part of a call in a message with both ends, or in a collective operation with all parts.
struct MatchedEnd {
  enum class Kind : std::uint8_t {
    sent,        // it sends the message, or starts to
    posted,      // it posts the receive, or receives
    received,    // it completes the receive
    collective,  // it takes part in the operation, or starts to
  };
  std::uint64_t message = 0;     // number of the message from 1, equal at both ends; 0 for a collective operation
  std::uint32_t request = 0;     // the request that the call starts; format::no_request if it starts none
  std::int32_t other_rank = -1;  // rank in the world of the message's other end
  Kind kind = Kind::sent;
};

// After a gap, counting calls does not tell what belongs together. So the trace is read twice: first by
// reader::Matcher, which knows where ranks begin anew, and then with the result. Holds 32 bytes for each end of a
// message.
class MatchedEnds {
 public:
  // Why calls are missing, as the definitions show before the trace is read; empty: none are.
  static std::string_view gaps(reader::Run& run);
  // Whether receives may have been cancelled.
  static bool has_cancels(reader::Run& run);
  // Reads the whole trace. The run must outlive the result. `goes_on` is called now and then; if it returns false,
  // nothing is returned.
  static reader::Result<std::optional<MatchedEnds>> read(reader::Run& run,
                                                         const std::function<bool(std::uint64_t)>& goes_on);

  // The ends of a call. To be called for each call of the ranks in question, in the order of the trace. The result is
  // valid as long as this object.
  std::span<const MatchedEnd> of_call(const reader::EventRow& call);
  // The reason why messages are missing, as text; empty if none are.
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
