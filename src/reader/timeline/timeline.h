// A trace as a timeline that can be shown at any zoom. Each location has a pyramid of bins: levels with ever fewer,
// longer bins. Details that are finer than the lowest level are decoded from the chunks again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "format/event_columns.h"
#include "reader/events/event_chunks.h"
#include "reader/run/run.h"
#include "reader/timeline/bins.h"
#include "reader/timeline/search.h"
#include "reader/timeline/wait_line.h"

namespace tare::reader {

// A call of MPI or of another source of events, a flush (tare writes an event buffer), or a gap in the trace.
struct TimelineCall {
  static constexpr std::uint16_t flush = 65534, gap = 65533;

  std::uint32_t row;                   // index in Timeline::rows()
  std::int64_t start_ns, duration_ns;  // start: Unix time
  std::uint16_t function;              // number in Run::functions(), `flush` or `gap`
  std::int32_t site;                   // index in Run::sites(); -1: not known
  std::int32_t peer;                   // rank in the world; of a collective, its root; -1: none
  std::int64_t bytes;                  // -1: none
};
inline std::int64_t length_ns(const TimelineCall& of) { return of.duration_ns; }

// Several threads may use it, except for set_waits(). The run must outlive it.
class Timeline {
 public:
  // Limits of the lowest level of the pyramid: bins of all locations together, and of one location.
  static constexpr std::size_t max_bins = 4U << 20, max_bins_of_a_row = 1U << 18, fewest_bins = 64;

  static Result<Timeline> read(Run& run);

  // A thread of a location, from its first call on.
  struct ThreadSince {
    std::int64_t ns;
    std::uint32_t thread;
  };
  // A location that has events.
  struct Row {
    const Process* process;
    std::uint32_t thread;  // the last one
    std::uint64_t records;
    std::vector<ThreadSince> threads{};  // those with calls, one after another
    // When it was read how its threads were scheduled; both 0 if it was not.
    std::int64_t observed_from_ns = 0, observed_to_ns = 0;
    bool lacks_begin = false;  // there are only its newest events
  };
  const std::vector<Row>& rows() const { return rows_; }
  std::int64_t start_ns() const { return start_ns_; }
  std::int64_t end_ns() const { return end_ns_; }
  const std::vector<std::string>& warnings() const { return warnings_; }
  // From now on, bins show the time of waits as Activity::waiting. May be called once, by read_wait_lines().
  void set_waits(WaitLines waits);

  // A part of the timeline: `rows` rows, each of which merges `group` locations (the last row may have fewer). The
  // first row begins with location `first`. Times are Unix times.
  struct Window {
    std::size_t first = 0, rows = 0, group = 1;
    std::int64_t from_ns = 0, to_ns = 0;
  };
  // `columns` bins for each row of the window, row by row. They come from the pyramid or, if that is too coarse and the
  // window has at most 256 locations, from the events.
  std::vector<Bin> bins(const Window& window, std::size_t columns) const;

  struct Calls {
    bool complete = false;            // false: there are too many, and `calls` is empty
    std::vector<TimelineCall> calls;  // by row; within a chunk of the trace, calls by time and then flushes
  };
  // All calls and flushes that overlap the window, if there are at most `most`. `group` is ignored: each row of the
  // window is one location.
  Calls calls(const Window& window, std::size_t most) const;
  // The last call of a row that has ended at a time, the calls that are under way (of other sources, several may be),
  // and the first call that begins later: those that there are, in this order.
  std::vector<TimelineCall> around(std::size_t row, std::int64_t time_ns) const;

  // What a search has found: how many, and the longest of them, in any order.
  template <typename T>
  struct Found {
    std::uint64_t count = 0;
    std::vector<T> longest;
  };
  Found<TimelineCall> find(const Search& search, std::size_t most) const;
  // The duration is that of the wait, and the peer is the rank that was waited for.
  Found<WaitLine> find_waits(const Search& search, std::size_t most) const;
  // All calls of all locations that last at least `min_ns`: the longest, at most `most`. By row and time.
  struct LongCalls {
    std::int64_t min_ns = 0;
    std::vector<TimelineCall> calls;
  };
  LongCalls longest(std::size_t most) const;

  // The waits and the intervals of the critical path that overlap the window, in the rows of the window; the longest,
  // at most `most`. None before set_waits().
  std::vector<WaitLine> waits(const Window& window, std::size_t most) const;
  std::vector<PathLine> path(const Window& window, std::size_t most) const;
  bool has_waits() const { return !waits_.of_row.empty(); }
  // The time that a row waits within an interval.
  std::int64_t waited_ns(std::size_t row, std::int64_t from_ns, std::int64_t to_ns) const;

 private:
  struct Chunk {
    const ChunkRef* ref;
    std::int64_t first_ns, last_ns;  // times of its calls and flushes; first_ns is INT64_MIN if it cannot be decoded
    std::int64_t first_call_ns = INT64_MAX;  // of none: INT64_MAX
  };
  struct Location {
    std::vector<Chunk> chunks;
    std::vector<std::vector<Bin>> levels;  // a bin merges `coarsening` bins of the level before
  };
  struct Scratch;
  static constexpr std::size_t coarsening = 4;
  // A window with more locations than this is shown from the pyramid alone.
  static constexpr std::size_t max_exact_rows = 256;

  explicit Timeline(Run& run) : run_(&run) {}
  void read_row(std::size_t row, Scratch& scratch);
  void add_threads(std::size_t row);
  void add_observed();
  template <typename Visit>
  bool visit(std::size_t row, const Chunk& chunk, Scratch& scratch, const Visit& visitor) const;
  void add_others(std::size_t row, const Chunk& chunk, Scratch& scratch) const;
  Activity activity(std::uint16_t function) const {
    return function == TimelineCall::gap ? Activity::untraced : activity_[function];
  }
  std::pair<std::int64_t, std::int64_t> shown(std::size_t row, const format::DecodedSpan& span) const;
  TimelineCall described(std::size_t row, const Scratch& scratch, std::size_t call) const;
  // Calls `use` with the waits of a row that overlap an interval.
  template <typename Use>
  void for_waits(std::size_t row, std::int64_t from_ns, std::int64_t to_ns, const Use& use) const;
  void mark_waits(std::size_t row, const Grid& grid, Bin* bins) const;
  void add_levels(Location& location);
  void from_events(std::size_t row, const Grid& grid, Bin* bins, Scratch& scratch) const;
  std::vector<Bin> of_row(std::size_t row, const Grid& grid, bool exactly, Scratch& scratch) const;
  Grid whole(std::size_t bins) const { return {start_ns_, end_ns_, bins}; }

  Run* run_;
  EventChunks chunks_;
  std::vector<Row> rows_;
  std::vector<Location> locations_;
  std::vector<Activity> activity_;  // by number in Run::functions()
  WaitLines waits_;
  std::int64_t start_ns_ = 0, end_ns_ = 0;
  std::vector<std::string> warnings_;
};

}  // namespace tare::reader
