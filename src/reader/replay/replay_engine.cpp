#include "reader/replay/replay_engine.h"

#include <algorithm>

#include "reader/model/clock_map.h"

namespace tare::reader {

ReplayEngine::Event ReplayEngine::add_event(std::uint32_t reached_by) {
  events_.push_back(reached_by);
  return static_cast<Event>(events_.size() - 1);
}

void ReplayEngine::order(Event earlier, Event later) {
  later_[earlier] = later;
  ++events_[later];
}

std::size_t ReplayEngine::add_timeline(std::int64_t start_ns) {
  timelines_.push_back({start_ns, {}});
  return timelines_.size() - 1;
}

void ReplayEngine::spend(std::size_t timeline, std::int64_t ns, std::uint32_t tag) {
  auto& steps = timelines_[timeline].steps;
  if (ns < 0 || (ns == 0 && tag == 0)) return;
  const auto kind = static_cast<std::uint32_t>(Kind::spend);
  // A change may limit each of the times that have a tag.
  if (tag == 0 && !steps.empty() && steps.back().kind == kind && steps.back().tag == 0)
    steps.back().ns = sum(steps.back().ns, ns);
  else
    steps.push_back({ns, 0, tag, kind});
}

std::vector<ReplayEngine::Spent> ReplayEngine::spent(std::size_t timeline) const {
  std::vector<Spent> found;
  for (const Step& step : timelines_[timeline].steps)
    if (step.kind == static_cast<std::uint32_t>(Kind::spend) && step.tag != 0) found.push_back({step.tag, step.ns});
  return found;
}

std::size_t ReplayEngine::reach(std::size_t timeline, std::optional<Event> event) {
  auto& steps = timelines_[timeline].steps;
  steps.push_back({0, event.value_or(0), 0, static_cast<std::uint32_t>(event ? Kind::reach : Kind::nothing)});
  return steps.size() - 1;
}

void ReplayEngine::set_event(std::size_t timeline, std::size_t step, Event event) {
  timelines_[timeline].steps[step] = {0, event, 0, static_cast<std::uint32_t>(Kind::reach)};
}

void ReplayEngine::await(std::size_t timeline, Event event, std::uint32_t tag) {
  timelines_[timeline].steps.push_back({0, event, tag, static_cast<std::uint32_t>(Kind::await)});
}

// One run.
class ReplayEngine::Player {
 public:
  Player(const ReplayEngine& engine, const Change& change) : engine_(engine), change_(change) {
    for (const std::uint32_t reached_by : engine.events_) events_.push_back({INT64_MIN, reached_by, 0});
    for (const Timeline& timeline : engine.timelines_) timelines_.push_back({timeline.start_ns, 0, 0});
    nth_.assign(change.spending.size(), 0);
  }

  std::optional<std::vector<std::int64_t>> run() {
    for (std::size_t i = 0; i < timelines_.size(); ++i) ready_.push_back(i);
    while (!ready_.empty()) {
      const std::size_t next = ready_.back();
      ready_.pop_back();
      play(next);
    }
    std::vector<std::int64_t> ends;
    for (std::size_t i = 0; i < timelines_.size(); ++i) {
      if (timelines_[i].next != engine_.timelines_[i].steps.size()) return std::nullopt;
      ends.push_back(timelines_[i].now);
    }
    return ends;
  }

 private:
  struct State {
    std::int64_t time = INT64_MIN;
    std::uint32_t missing;
    std::uint32_t first_waiter = 0;  // the first timeline that waits for it, plus 1; 0: none
  };
  struct Position {
    std::int64_t now;
    std::size_t next;
    std::uint32_t next_waiter;  // the next timeline that waits for the same event, plus 1; 0: none
  };

  std::int64_t spent_ns(const Step& step) {
    if (step.tag >= change_.spending.size()) return step.ns;
    const auto& [factor, max_ns, each] = change_.spending[step.tag];
    if (const std::size_t nth = nth_[step.tag]++; nth < each.size()) return each[nth];
    return std::min(rounded_ns(static_cast<double>(step.ns) * factor), max_ns);
  }
  bool is_ignored(const Step& step) const { return step.tag < change_.ignored.size() && change_.ignored[step.tag]; }

  // A timeline has reached the event, or an event before it has happened.
  void record_arrival(Event event, std::int64_t time) {
    while (true) {
      State& state = events_[event];
      state.time = std::max(state.time, time);
      // It was reached more often than expected, because the trace is inconsistent. The first ones count.
      if (state.missing == 0 || --state.missing != 0) return;
      for (std::uint32_t waiter = state.first_waiter; waiter != 0; waiter = timelines_[waiter - 1].next_waiter)
        ready_.push_back(waiter - 1);
      state.first_waiter = 0;
      const auto later = engine_.later_.find(event);
      if (later == engine_.later_.end()) return;
      time = state.time;
      event = later->second;
    }
  }

  // Executes the steps of a timeline until it must wait or ends.
  void play(std::size_t timeline) {
    Position& at = timelines_[timeline];
    const auto& steps = engine_.timelines_[timeline].steps;
    for (; at.next < steps.size(); ++at.next) {
      const Step& step = steps[at.next];
      switch (static_cast<Kind>(step.kind)) {
        case Kind::spend:
          at.now = sum(at.now, spent_ns(step));
          break;
        case Kind::reach:
          record_arrival(step.event, at.now);
          break;
        case Kind::await: {
          if (is_ignored(step)) break;
          State& state = events_[step.event];
          if (state.missing != 0) {
            at.next_waiter = state.first_waiter;
            state.first_waiter = static_cast<std::uint32_t>(timeline + 1);
            return;
          }
          at.now = std::max(at.now, state.time);
          break;
        }
        case Kind::nothing:
          break;
      }
    }
  }

  const ReplayEngine& engine_;
  const Change& change_;
  std::vector<State> events_;
  std::vector<Position> timelines_;
  std::vector<std::size_t> nth_;    // by tag, how many times have been spent
  std::vector<std::size_t> ready_;  // timelines that can go on
};

std::optional<std::vector<std::int64_t>> ReplayEngine::run(const Change& change) const {
  return Player(*this, change).run();
}

}  // namespace tare::reader
