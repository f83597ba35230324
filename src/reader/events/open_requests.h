// The requests of a process whose completion is not in the chunk that has their start: it is in a later one, or was
// seen by another thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "format/record.h"

namespace tare::reader {

struct StartedRequest {
  std::uint32_t request = format::no_request;  // as numbered anew in its location
  std::uint32_t communicator = format::no_communicator;
  std::uint32_t thread = 0;
};

// Threads may be told of in any order, but before a completion all that was started before it.
class OpenRequests {
 public:
  // `recorded`: its number in the file, which is used again after its completion, of sends that are complete at once
  // also before. `since`: when the call that started it had returned, in any unit.
  void start(std::uint32_t recorded, std::int64_t since, const StartedRequest& started) {
    std::vector<Open>& starts = open_[recorded];
    if (starts.size() == most) starts.erase(starts.begin());
    starts.push_back({since, started});
  }

  // What a call that was entered at `enter` has completed: the last that was started before, as the number may have
  // been used again while the call went on. Not known where the start is lost.
  StartedRequest complete(std::uint32_t recorded, std::int64_t enter) {
    const auto found = open_.find(recorded);
    if (found == open_.end()) return {};
    std::vector<Open>& starts = found->second;
    auto last = starts.end();
    for (auto start = starts.begin(); start != starts.end(); ++start)
      if (start->since <= enter && (last == starts.end() || start->since >= last->since)) last = start;
    if (last == starts.end()) return {};
    const StartedRequest started = last->started;
    starts.erase(last);
    if (starts.empty()) open_.erase(found);
    return started;
  }

 private:
  // The program may give requests up, whose completion is never seen.
  static constexpr std::size_t most = 1024;

  struct Open {
    std::int64_t since;
    StartedRequest started;
  };
  std::unordered_map<std::uint32_t, std::vector<Open>> open_;  // by recorded number
};

}  // namespace tare::reader
