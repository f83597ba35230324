// Timelines that wait for one another, played through.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "reader/time_arithmetic.h"

namespace tare::reader {

class ReplayEngine {
 public:
  // What some timelines reach and others wait for: it has happened when all who have to reach it have, at the time of
  // the last of them.
  using Event = std::uint32_t;
  Event add_event(std::uint32_t reached_by = 1);
  // `later` does not happen before `earlier`.
  void order(Event earlier, Event later);

  std::size_t add_timeline(std::int64_t start_ns);
  void spend(std::size_t timeline, std::int64_t ns);
  // Where it stands, so that the event can be set later; none: nothing happens.
  std::size_t reach(std::size_t timeline, std::optional<Event> event);
  void set_event(std::size_t timeline, std::size_t step, Event event);
  void await(std::size_t timeline, Event event);

  // When each timeline ends; nothing if some wait for what never happens. To be called once.
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
    std::uint32_t next_waiter = 0;  // of the event that it waits for, plus 1
  };
  struct State {
    std::int64_t time = INT64_MIN;
    std::uint32_t missing;
    std::uint32_t first_waiter = 0;  // timeline plus 1
  };

  void play(std::size_t timeline);
  void record_arrival(Event event, std::int64_t time);

  std::vector<State> events_;
  std::unordered_map<Event, Event> later_;
  std::vector<Timeline> timelines_;
  std::vector<std::size_t> ready_;  // timelines that can go on
};

}  // namespace tare::reader
