// The requests of a process whose start and completion are in different chunks or threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "format/record.h"

namespace tare::reader {

struct StartedRequest {
  std::uint32_t request = format::no_request;  // its new number, which is unique in its location
  std::uint32_t communicator = format::no_communicator;
  std::uint32_t thread = 0;
};

// Threads may be added in any order, but all starts before a completion must be added before it.
class OpenRequests {
 public:
  // `recorded`: the number in the file. The same number may be used again after the completion; for sends that complete
  // at once, also before it. `since`: when the call that started the request returned, in any unit.
  void start(std::uint32_t recorded, std::int64_t since, const StartedRequest& started) {
    std::vector<Open>& starts = open_[recorded];
    if (starts.size() == most) starts.erase(starts.begin());
    starts.push_back({since, started});
  }

  // Removes and returns the request that a call entered at `enter` completed. This is the last one that was started
  // before, because the number may be used again during the call. Empty if the start is lost.
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
  // A limit is needed because freed requests are never completed.
  static constexpr std::size_t most = 1024;

  struct Open {
    std::int64_t since;
    StartedRequest started;
  };
  std::unordered_map<std::uint32_t, std::vector<Open>> open_;  // by recorded number
};

}  // namespace tare::reader
