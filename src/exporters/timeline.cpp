#include "exporters/timeline.h"

#include <algorithm>
#include <deque>
#include <queue>
#include <span>
#include <unordered_set>
#include <utility>

#include "reader/events/program_event.h"

namespace tare::exporters {
namespace {

using namespace tare::reader;
using format::EventClass;

bool is_sample(const Run& run, const EventRow& row) {
  return row.kind == EventKind::source_call && run.functions().source(row.function) == "stacks";
}

std::int64_t end_of(const EventRow& row) {
  return row.duration_ns > INT64_MAX - row.start_ns ? INT64_MAX : row.start_ns + row.duration_ns;
}

struct Frame {
  Span span;
  std::int64_t enter_ns = 0;
  std::int64_t end_ns = INT64_MAX;  // when it ends at the latest; that of a frame is no later than of the one below
  bool is_written = false;
};

struct Place {
  Track track;
  std::vector<Frame> frames;  // of which `depth` are in use; the others keep their memory
  std::size_t depth = 0;
  std::int64_t last_ns = INT64_MIN;
};

class Timeline {
 public:
  Timeline(Run& run, TimelineOptions options, TimelineWriter& writer)
      : run_(run), options_(std::move(options)), writer_(writer), places_of_(run.processes().size()) {
    if (options_.filter.ranks) ranks_.emplace(options_.filter.ranks->begin(), options_.filter.ranks->end());
  }

  Result<TimelineSummary> write();

 private:
  void add(EventRow& row);
  // An error if the trace cannot be read; false if the reading was ended.
  Result<bool> begin_matching();
  void match(const EventRow& row);
  void add_event(Place& place, const EventRow& row);
  Place& place_of(const EventRow& row);
  void push(Place& place, EventRow& row, std::int64_t end_ns);
  void pop(Place& place, std::int64_t time_ns);
  // Writes the frames that were entered before the wanted time.
  void write_frames(Place& place);
  void close_ended(Place& place, std::int64_t time_ns);
  void close_all_ended(std::int64_t time_ns);
  void close_region(Place& place, std::int32_t event_type, std::int64_t time_ns);
  void close_rest();
  std::int64_t later(Place& place, std::int64_t time_ns) const {
    return place.last_ns = std::max(place.last_ns, time_ns);
  }

  Run& run_;
  TimelineOptions options_;
  TimelineWriter& writer_;
  std::optional<std::unordered_set<std::int32_t>> ranks_;  // the wanted ranks
  // At most one of these: the ends for a trace with gaps, else the flows.
  std::optional<MatchedEnds> ends_of_messages_;
  std::optional<MessageFlows> flows_;
  Flows found_;
  std::optional<std::span<const MatchedEnd>> matched_;
  std::deque<Place> places_;                                         // their addresses stay
  std::vector<std::vector<Place*>> places_of_;                       // by process
  std::vector<std::int64_t> latest_;                                 // by process
  using End = std::pair<std::int64_t, std::uint32_t>;                // time, number of the track
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;  // if ordered
  TimelineSummary summary_;
};

Result<TimelineSummary> Timeline::write() {
  EventFilter filter = options_.filter;
  filter.start_ns.reset();
  filter.lists_all_requests = true;
  auto stream = EventStream::open(run_, filter);
  if (!stream) return stream.failure();
  if (const auto goes_on = begin_matching(); !goes_on)
    return goes_on.failure();
  else if (!*goes_on)
    return std::move(summary_);
  std::uint64_t seen = 0;
  for (auto rows = stream->next(); !rows.empty(); rows = stream->next()) {
    if (!stream->warnings().empty()) {
      if (flows_) flows_->lose();
      writer_.lose();
    }
    for (EventRow& row : rows) add(row);
    seen += rows.size();
    summary_.was_stopped = options_.goes_on != nullptr && !options_.goes_on(seen);
    if (summary_.was_stopped || writer_.has_failed()) break;
  }
  close_rest();
  if (flows_) summary_.obstacle = flows_->obstacle();
  if (ends_of_messages_) summary_.obstacle = ends_of_messages_->reason();
  summary_.warnings = stream->warnings();
  return std::move(summary_);
}

Result<bool> Timeline::begin_matching() {
  if (!options_.finds_messages && !options_.finds_matched) return true;
  if (MatchedEnds::gaps(run_).empty() && !(options_.finds_messages && MatchedEnds::has_cancels(run_))) {
    if (options_.finds_messages) flows_.emplace(run_, options_.filter);
    return true;
  }
  auto ends = MatchedEnds::read(run_, options_.goes_on);
  if (!ends) return ends.failure();
  ends_of_messages_ = std::move(*ends);
  summary_.was_stopped = !ends_of_messages_;
  return !summary_.was_stopped;
}

void Timeline::match(const EventRow& row) {
  if (flows_) return flows_->find(row, found_);
  if (!ends_of_messages_) return;
  found_.clear();
  matched_.emplace();
  if (row.kind != EventKind::call) return;
  matched_ = ends_of_messages_->of_call(row);
  if (!options_.finds_messages) return;
  for (const MatchedEnd& end : *matched_) {
    if (ranks_ && !ranks_->contains(end.other_rank)) continue;
    if (end.kind == MatchedEnd::Kind::sent) found_.sent.push_back(end.message);
    if (end.kind == MatchedEnd::Kind::received) found_.received.push_back(end.message);
  }
}

Place& Timeline::place_of(const EventRow& row) {
  const bool is_of_tared = row.kind == EventKind::drain;
  std::vector<Place*>& of_process = places_of_[row.process];
  for (Place* place : of_process)
    if (place->track.thread == row.thread && place->track.is_of_tared == is_of_tared) return *place;
  Place& place = places_.emplace_back();
  place.track = {static_cast<std::uint32_t>(places_.size() - 1), row.process, row.thread, is_of_tared, row.thread_name};
  of_process.push_back(&place);
  writer_.begin_track(place.track);
  return place;
}

void Timeline::add(EventRow& row) {
  match(row);
  if (options_.is_ordered) close_all_ended(row.start_ns);
  Place& place = place_of(row);
  close_ended(place, row.start_ns);
  if (is_of_program(row.kind)) return add_event(place, row);
  if (!options_.filter.wants_time(row.start_ns, row.duration_ns)) return;
  if (is_sample(run_, row)) {
    write_frames(place);
    return writer_.sample(place.track, later(place, row.start_ns), row);
  }
  if (reader::is_call(row.kind)) ++summary_.events;
  // Calls of MPI do not overlap with others of the thread. If they seem to, the reason is the conversion of clocks. But
  // constructs of OpenMP contain them.
  const auto top_ends = [&] {
    const Frame& top = place.frames[place.depth - 1];
    const bool contains = top.span.row.kind == EventKind::source_call && top.end_ns >= end_of(row);
    return top.span.row.kind != EventKind::event && !contains;
  };
  if (row.kind == EventKind::call)
    while (place.depth != 0 && top_ends()) pop(place, row.start_ns);
  const std::int64_t end_ns = end_of(row);
  push(place, row, end_ns);
  write_frames(place);
  if (options_.is_ordered) ends_.emplace(end_ns, place.track.number);
}

void Timeline::add_event(Place& place, const EventRow& row) {
  const bool is_wanted = options_.filter.wants_time(row.start_ns, 0);
  const EventClass event_class = class_of(run_, row);
  const bool is_span = event_class == EventClass::region || event_class == EventClass::phase;
  if (is_wanted) ++summary_.events;
  if (is_wanted) write_frames(place);
  if (!is_span) {
    if (is_wanted) writer_.event(place.track, later(place, row.start_ns), row);
  } else if (row.parameters.empty() || row.parameters.front() == 0) {
    close_region(place, row.event_type, row.start_ns);
  } else {
    EventRow begin = row;
    found_.clear();
    push(place, begin, INT64_MAX);
    if (is_wanted) write_frames(place);
  }
}

void Timeline::push(Place& place, EventRow& row, std::int64_t end_ns) {
  if (place.depth == place.frames.size()) place.frames.emplace_back();
  Frame& frame = place.frames[place.depth];
  frame.enter_ns = later(place, row.start_ns);
  // What begins within a call ends within it.
  frame.end_ns = place.depth == 0 ? end_ns : std::min(end_ns, place.frames[place.depth - 1].end_ns);
  frame.span.row = std::move(row);
  std::swap(frame.span.flows, found_);
  frame.span.matched = matched_;
  frame.is_written = false;
  ++place.depth;
}

void Timeline::pop(Place& place, std::int64_t time_ns) {
  Frame& frame = place.frames[--place.depth];
  time_ns = later(place, time_ns);
  if (frame.is_written) writer_.leave(place.track, time_ns, frame.span);
}

void Timeline::write_frames(Place& place) {
  std::size_t first = place.depth;
  while (first != 0 && !place.frames[first - 1].is_written) --first;
  for (; first != place.depth; ++first) {
    Frame& frame = place.frames[first];
    writer_.enter(place.track, frame.enter_ns, frame.span);
    frame.is_written = true;
  }
}

void Timeline::close_ended(Place& place, std::int64_t time_ns) {
  while (place.depth != 0 && place.frames[place.depth - 1].end_ns <= time_ns)
    pop(place, place.frames[place.depth - 1].end_ns);
}

void Timeline::close_all_ended(std::int64_t time_ns) {
  while (!ends_.empty() && ends_.top().first <= time_ns) {
    const auto [end_ns, track] = ends_.top();
    ends_.pop();
    close_ended(places_[track], end_ns);
  }
}

void Timeline::close_region(Place& place, std::int32_t event_type, std::int64_t time_ns) {
  std::size_t at = place.depth;
  const auto is_it = [&](const EventRow& row) { return is_of_program(row.kind) && row.event_type == event_type; };
  while (at != 0 && !is_it(place.frames[at - 1].span.row)) --at;
  if (at == 0) {
    if (options_.filter.wants_time(time_ns, 0)) ++summary_.ends;
    return;
  }
  while (place.depth >= at) pop(place, time_ns);
}

// What is open at the end of the trace ends with the process, or with the wanted time.
void Timeline::close_rest() {
  std::int64_t last_ns = INT64_MIN;
  if (options_.is_ordered) close_all_ended(INT64_MAX - 1);
  latest_.assign(places_of_.size(), INT64_MIN);
  for (Place& place : places_) {
    close_ended(place, INT64_MAX - 1);
    std::int64_t& latest = latest_[place.track.process];
    latest = std::max(latest, place.last_ns);
  }
  // In the order of these ends.
  std::vector<Place*> open;
  for (Place& place : places_)
    if (place.depth != 0) open.push_back(&place);
  const auto end_of_place = [&](const Place* place) { return latest_[place->track.process]; };
  std::stable_sort(open.begin(), open.end(),
                   [&](const Place* a, const Place* b) { return end_of_place(a) < end_of_place(b); });
  for (Place* place : open) {
    const std::int64_t end_ns = std::max(end_of_place(place), options_.filter.end_ns.value_or(INT64_MIN));
    last_ns = std::max(last_ns, end_ns);
    if (options_.filter.wants_time(place->last_ns, end_ns > place->last_ns ? end_ns - place->last_ns : 0))
      write_frames(*place);
    while (place->depth != 0) {
      summary_.open += place->frames[place->depth - 1].is_written ? 1 : 0;
      pop(*place, end_ns);
    }
  }
}

}  // namespace

Result<TimelineSummary> write_timeline(Run& run, TimelineOptions options, TimelineWriter& writer) {
  return Timeline(run, std::move(options), writer).write();
}

std::int64_t first_time_ns(const Run& run, std::int64_t start_ns) {
  for (const Process& process : run.processes())
    start_ns = std::min(start_ns, process.clock.unix_ns(process.record.clock_start.ticks));
  return start_ns;
}

}  // namespace tare::exporters
