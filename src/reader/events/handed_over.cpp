#include "reader/events/handed_over.h"

#include <algorithm>
#include <queue>
#include <tuple>

#include "reader/events/event_block.h"

namespace tare::reader {

using namespace tare::format;

// Reads a block chunk by chunk. Its steps are the starts that other threads may complete and the completions with a
// number, in the order of time. Times are ticks as in the file, which all locations of a process share.
class HandedOver::Reading {
 public:
  struct Step {
    std::uint64_t ticks;
    bool completes;  // a start at the same time comes first
    std::uint32_t recorded;
    StartedRequest started;  // for a start
    std::size_t place;       // for a completion: index in Found::requests
  };

  // `scratch` is shared because a process may have thousands of locations.
  Reading(const EventChunks::Block& block, const EventFilter& filter, EventBlock::Decoded& scratch, Found& found)
      : block_(block), filter_(&filter), scratch_(&scratch), found_(&found) {}

  // Makes front() valid. False at the end.
  bool prepare() {
    while (next_ == steps_.size()) {
      found_->first.push_back(found_->requests.size());
      if (!block_.next(*filter_, *scratch_)) return false;
      load();
    }
    return true;
  }
  const Step& front() const { return steps_[next_]; }

  void take(OpenRequests& open) {
    const Step& step = steps_[next_++];
    const auto ticks = static_cast<std::int64_t>(step.ticks);
    if (step.completes)
      found_->requests[step.place] = open.complete(step.recorded, ticks);
    else
      open.start(step.recorded, ticks, step.started);
  }

 private:
  void load() {
    steps_.clear();
    next_ = 0;
    add_starts(block_.place.thread);
    add_completions();
    const auto& enter = scratch_->columns.calls.enter;
    if (!enter.empty()) last_enter_ = enter.back();
    const auto is_before = [](const Step& a, const Step& b) {
      return std::tie(a.ticks, a.completes) < std::tie(b.ticks, b.completes);
    };
    std::stable_sort(steps_.begin(), steps_.end(), is_before);
  }

  void add_starts(std::uint32_t thread) {
    const EventColumns& c = scratch_->columns;
    for (std::size_t i = 0; i < c.requests.call.size(); ++i) {
      ++last_request_;
      const std::uint32_t call = c.requests.call[i];
      const std::uint32_t nth = c.requests.nth[i];
      const bool is_call = call != UINT32_MAX;
      const auto recorded = static_cast<std::uint32_t>(is_call ? c.calls.request[call] : c.starts.request[nth]);
      if (recorded == completed_in_chunk) continue;
      const auto signature = static_cast<std::size_t>(is_call ? c.calls.signature[call] : c.starts.signature[nth]);
      const auto communicator = static_cast<std::uint32_t>(c.signatures.communicator[signature]);
      // A call that starts several requests starts persistent ones. No other request can have their handles during the
      // call.
      const std::uint64_t ticks = is_call ? c.calls.enter[call] + c.calls.duration[call] : enter_of(c.starts.call[nth]);
      steps_.push_back({ticks, false, recorded, {last_request_, communicator, thread}, 0});
    }
  }

  void add_completions() {
    const EventColumns::Completions& c = scratch_->columns.completions;
    for (std::size_t i = 0; i < c.start.size(); ++i) {
      if (c.start[i] != UINT32_MAX) continue;
      const auto recorded = static_cast<std::uint32_t>(c.request[i]);
      steps_.push_back({enter_of(c.call[i]), true, recorded, {}, found_->requests.size()});
      found_->requests.emplace_back();
    }
  }

  std::uint64_t enter_of(std::uint32_t call) const {
    return call == UINT32_MAX ? last_enter_ : scratch_->columns.calls.enter[call];
  }

  EventBlock block_;
  const EventFilter* filter_;
  EventBlock::Decoded* scratch_;
  Found* found_;
  std::uint64_t last_enter_ = 0;  // when the last call of the chunks before was entered
  std::uint32_t last_request_ = no_request;
  std::vector<Step> steps_;  // of the current chunk
  std::size_t next_ = 0;
};

HandedOver HandedOver::of_process(std::span<const EventChunks::Block> blocks, const EventFilter& filter) {
  const Process* process = blocks.front().process;
  const auto is_of_process = [&](const EventChunks::Block& other) {
    return other.process == process && (other.chunks.empty() || !is_of_tared(other.chunks.front().header.block));
  };
  const auto end = std::find_if_not(blocks.begin(), blocks.end(), is_of_process);
  const auto count = static_cast<std::size_t>(end - blocks.begin());
  return count < 2 || !process->may_hand_over() ? HandedOver() : HandedOver(blocks.first(count), filter);
}

HandedOver::HandedOver(std::span<const EventChunks::Block> blocks, const EventFilter& filter) : found_(blocks.size()) {
  EventBlock::Decoded scratch;
  std::vector<Reading> readings;
  for (std::size_t i = 0; i < blocks.size(); ++i) readings.emplace_back(blocks[i], filter, scratch, found_[i]);
  using Head = std::tuple<std::uint64_t, bool, std::size_t>;  // ticks, completes, block
  std::priority_queue<Head, std::vector<Head>, std::greater<>> heads;
  const auto push = [&](std::size_t block) {
    if (!readings[block].prepare()) return;
    const Reading::Step& step = readings[block].front();
    heads.emplace(step.ticks, step.completes, block);
  };
  for (std::size_t i = 0; i < blocks.size(); ++i) push(i);
  OpenRequests open;
  while (!heads.empty()) {
    const std::size_t block = std::get<2>(heads.top());
    heads.pop();
    readings[block].take(open);
    push(block);
  }
}

}  // namespace tare::reader
