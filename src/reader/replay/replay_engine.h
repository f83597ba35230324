// Computes when timelines end that wait for events of one another. It knows nothing about MPI.
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
  void spend(std::size_t timeline, std::int64_t ns);
  // Appends a step that reaches the event. Returns the index of the step, so that set_event() can set the event later.
  // Without an event, the step does nothing.
  std::size_t reach(std::size_t timeline, std::optional<Event> event);
  void set_event(std::size_t timeline, std::size_t step, Event event);
  void await(std::size_t timeline, Event event);

  // The time at which each timeline ends; nothing if one waits for an event that never happens. To be called once.
  std::optional<std::vector<std::int64_t>> run();

 private:
  enum class Kind : std::uint8_t { spend, reach, await, nothing };
  struct Step {
    std::int64_t ns;
    Event event;
    Kind kind;
  };
  struct Timeline {
    std::int64_t now;
    std::vector<Step> steps;
    std::size_t next = 0;
    std::uint32_t next_waiter = 0;  // the next timeline that waits for the same event, plus 1; 0: none
  };
  struct State {
    std::int64_t time = INT64_MIN;
    std::uint32_t missing;
    std::uint32_t first_waiter = 0;  // the first timeline that waits for it, plus 1; 0: none
  };

  void play(std::size_t timeline);
  void record_arrival(Event event, std::int64_t time);

  std::vector<State> events_;
  std::unordered_map<Event, Event> later_;
  std::vector<Timeline> timelines_;
  std::vector<std::size_t> ready_;  // timelines that can go on
};

}  // namespace tare::reader
