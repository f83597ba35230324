#include "reader/replay/replay_engine.h"

#include <algorithm>

namespace tare::reader {

ReplayEngine::Event ReplayEngine::add_event(std::uint32_t reached_by) {
  events_.push_back({INT64_MIN, reached_by, 0});
  return static_cast<Event>(events_.size() - 1);
}

void ReplayEngine::order(Event earlier, Event later) {
  later_[earlier] = later;
  ++events_[later].missing;
}

std::size_t ReplayEngine::add_timeline(std::int64_t start_ns) {
  timelines_.push_back({start_ns, {}, 0, 0});
  return timelines_.size() - 1;
}

void ReplayEngine::spend(std::size_t timeline, std::int64_t ns) {
  auto& steps = timelines_[timeline].steps;
  if (ns <= 0) return;
  if (!steps.empty() && steps.back().kind == Kind::spend)
    steps.back().ns = sum(steps.back().ns, ns);
  else
    steps.push_back({ns, 0, Kind::spend});
}

std::size_t ReplayEngine::reach(std::size_t timeline, std::optional<Event> event) {
  auto& steps = timelines_[timeline].steps;
  steps.push_back({0, event.value_or(0), event ? Kind::reach : Kind::nothing});
  return steps.size() - 1;
}

void ReplayEngine::set_event(std::size_t timeline, std::size_t step, Event event) {
  timelines_[timeline].steps[step] = {0, event, Kind::reach};
}

void ReplayEngine::await(std::size_t timeline, Event event) {
  timelines_[timeline].steps.push_back({0, event, Kind::await});
}

// A timeline has reached the event, or an event before it has happened.
void ReplayEngine::record_arrival(Event event, std::int64_t time) {
  while (true) {
    State& state = events_[event];
    state.time = std::max(state.time, time);
    // It was reached more often than expected, because the trace is inconsistent. The first ones count.
    if (state.missing == 0 || --state.missing != 0) return;
    for (std::uint32_t waiter = state.first_waiter; waiter != 0; waiter = timelines_[waiter - 1].next_waiter)
      ready_.push_back(waiter - 1);
    state.first_waiter = 0;
    const auto later = later_.find(event);
    if (later == later_.end()) return;
    time = state.time;
    event = later->second;
  }
}

// Executes the steps of a timeline until it must wait or ends.
void ReplayEngine::play(std::size_t timeline) {
  Timeline& line = timelines_[timeline];
  for (; line.next < line.steps.size(); ++line.next) {
    const Step& step = line.steps[line.next];
    switch (step.kind) {
      case Kind::spend:
        line.now = sum(line.now, step.ns);
        break;
      case Kind::reach:
        record_arrival(step.event, line.now);
        break;
      case Kind::await: {
        State& state = events_[step.event];
        if (state.missing != 0) {
          line.next_waiter = state.first_waiter;
          state.first_waiter = static_cast<std::uint32_t>(timeline + 1);
          return;
        }
        line.now = std::max(line.now, state.time);
        break;
      }
      case Kind::nothing:
        break;
    }
  }
}

std::optional<std::vector<std::int64_t>> ReplayEngine::run() {
  for (std::size_t i = 0; i < timelines_.size(); ++i) ready_.push_back(i);
  while (!ready_.empty()) {
    const std::size_t next = ready_.back();
    ready_.pop_back();
    play(next);
  }
  std::vector<std::int64_t> ends;
  for (const Timeline& line : timelines_) {
    if (line.next != line.steps.size()) return std::nullopt;
    ends.push_back(line.now);
  }
  return ends;
}

}  // namespace tare::reader
