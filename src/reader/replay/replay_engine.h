// Computes when timelines end that wait for events of one another, as recorded or with changes. It knows nothing
// about MPI.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "reader/time_arithmetic.h"

namespace tare::reader {

class ReplayEngine {
 public:
  // An event is reached by some timelines and awaited by others. It happens when it has been reached `reached_by`
  // times, at the time of the last of these.
  using Event = std::uint32_t;
  Event add_event(std::uint32_t reached_by = 1);
  // `later` does not happen before `earlier`.
  void order(Event earlier, Event later);

  std::size_t add_timeline(std::int64_t start_ns);
  // `tag`: what a Change may change the time of; 0: nothing. A timeline has tags of its own.
  void spend(std::size_t timeline, std::int64_t ns, std::uint32_t tag = 0);
  // The times of a timeline that have a tag, in their order, with their tags.
  struct Spent {
    std::uint32_t tag;
    std::int64_t ns;
  };
  std::vector<Spent> spent(std::size_t timeline) const;
  // Appends a step that reaches the event. Returns the index of the step, so that set_event() can set the event later.
  // Without an event, the step does nothing.
  std::size_t reach(std::size_t timeline, std::optional<Event> event);
  void set_event(std::size_t timeline, std::size_t step, Event event);
  // `tag`: as in spend(), but with numbers of its own.
  void await(std::size_t timeline, Event event, std::uint32_t tag = 0);

  // What is different from what was recorded.
  struct Change {
    struct Spending {
      double factor = 1;
      std::int64_t max_ns = INT64_MAX;   // of each time
      std::vector<std::int64_t> each{};  // in place of the first times, in their order
    };
    std::vector<Spending> spending;  // by tag, the time that is spent; as recorded beyond the end
    std::vector<bool> ignored;       // by tag, whether events are not awaited; false beyond the end
  };
  // The time at which each timeline ends; nothing if one waits for an event that never happens.
  std::optional<std::vector<std::int64_t>> run() const { return run({}); }
  std::optional<std::vector<std::int64_t>> run(const Change& change) const;

 private:
  enum class Kind : std::uint8_t { spend, reach, await, nothing };
  struct Step {
    std::int64_t ns;
    Event event;
    std::uint32_t tag : 30;
    std::uint32_t kind : 2;
  };
  struct Timeline {
    std::int64_t start_ns;
    std::vector<Step> steps;
  };
  class Player;

  std::vector<std::uint32_t> events_;  // by how many steps each is reached
  std::unordered_map<Event, Event> later_;
  std::vector<Timeline> timelines_;
};

}  // namespace tare::reader
