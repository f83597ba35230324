// A trace as a picture in time, at any zoom: of each location a pyramid of bins, and the chunks for what is finer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "format/event_codec.h"
#include "reader/events/event_chunks.h"
#include "reader/run/run.h"
#include "reader/timeline/bins.h"

namespace tare::reader {

// A call, or a flush of tare's.
struct TimelineCall {
  static constexpr std::uint16_t flush = 65534;

  std::uint32_t row;
  std::int64_t start_ns, duration_ns;
  std::uint16_t function;  // or `flush`
  std::int32_t site;       // of Run::sites(), -1: not known
  std::int32_t peer;       // rank in the world, or -1; of a collective, its root
  std::int64_t bytes;      // -1: none
};

// Read once; asking it changes nothing, so that several threads may. The run must outlive it.
class Timeline {
 public:
  // Memory for bins; a location has at least the fewest.
  static constexpr std::size_t most_bins = 4U << 20, most_bins_of_a_row = 1U << 18, fewest_bins = 64;

  static Result<Timeline> read(Run& run);

  // A location with events.
  struct Row {
    const Process* process;
    std::uint32_t thread;
    std::uint64_t events;
  };
  const std::vector<Row>& rows() const { return rows_; }
  std::int64_t start_ns() const { return start_ns_; }
  std::int64_t end_ns() const { return end_ns_; }
  const std::vector<std::string>& warnings() const { return warnings_; }

  // Rows of a picture: those from `first` on, each of `group` locations (the last one of fewer).
  struct Window {
    std::size_t first = 0, rows = 0, group = 1;
    std::int64_t from_ns = 0, to_ns = 0;
  };
  // `columns` bins for each row. From the pyramid, or, where that is too coarse and the rows are few, from the events.
  std::vector<Bin> bins(const Window& window, std::size_t columns) const;

  struct Calls {
    bool complete = false;            // false: there are too many, and none are listed
    std::vector<TimelineCall> calls;  // by row, in the order of time
  };
  // Those of single locations that touch the window, flushes included; at most `most`.
  Calls calls(const Window& window, std::size_t most) const;
  // Of all locations the longest: those of at least `least_ns`.
  struct Longest {
    std::int64_t least_ns = 0;
    std::vector<TimelineCall> calls;
  };
  Longest longest(std::size_t most) const;

 private:
  struct Chunk {
    const ChunkRef* ref;
    std::int64_t first_ns, last_ns;  // of its calls
  };
  struct Location {
    std::vector<Chunk> chunks;
    std::vector<std::vector<Bin>> levels;  // each of `coarsening` bins of the one before
  };
  struct Scratch;
  static constexpr std::size_t coarsening = 4;
  // More rows than this are shown from the pyramid alone.
  static constexpr std::size_t most_exact_rows = 256;

  explicit Timeline(Run& run) : run_(&run) {}
  void read_row(std::size_t row, Scratch& scratch);
  template <typename Visit>
  bool visit(std::size_t row, const Chunk& chunk, Scratch& scratch, const Visit& visitor) const;
  std::pair<std::int64_t, std::int64_t> shown(std::size_t row, const format::DecodedSpan& span) const;
  TimelineCall described(std::size_t row, const Scratch& scratch, std::size_t call) const;
  void from_events(std::size_t row, const Grid& grid, Bin* bins, Scratch& scratch) const;
  std::vector<Bin> of_row(std::size_t row, const Grid& grid, bool exactly, Scratch& scratch) const;
  Grid whole(std::size_t bins) const { return {start_ns_, end_ns_, bins}; }

  Run* run_;
  EventChunks chunks_;
  std::vector<Row> rows_;
  std::vector<Location> locations_;
  std::vector<Activity> activity_;                     // by function of the run
  std::vector<std::vector<std::uint64_t>> durations_;  // of each row, how many calls are how long (duration_class)
  std::int64_t start_ns_ = 0, end_ns_ = 0;
  std::vector<std::string> warnings_;
};

}  // namespace tare::reader
