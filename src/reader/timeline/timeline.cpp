#include "reader/timeline/timeline.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "format/event_columns.h"
#include "format/function_meaning.h"
#include "reader/parallel.h"
#include "reader/store/scheduling.h"
#include "reader/time_arithmetic.h"
#include "reader/timeline/longest.h"

namespace tare::reader {
using namespace tare::format;

// Memory for decoding a chunk, which is reused for the next one.
struct Timeline::Scratch {
  std::vector<char> raw;
  EventColumns columns;
  std::vector<std::uint64_t> ticks;
  // Of the calls of all sources and of gaps, in the order of their starts.
  std::vector<std::int64_t> start_ns, duration_ns;
  std::vector<std::uint16_t> function;  // number in Run::functions()
  // Their numbers in `columns`: first the calls of MPI, then those of other sources; of a gap, SIZE_MAX. Empty: there
  // are only calls of MPI.
  std::vector<std::size_t> number;
  std::vector<std::uint16_t> of_signature;  // numbers of functions
};

// Adds to the calls of MPI those of other sources, and the gaps of the trace; not calls that wait for nobody, which
// contain other calls (src/openmp): bins have what a thread waits for.
void Timeline::add_others(std::size_t row, const Chunk& chunk, Scratch& scratch) const {
  const Process& process = *rows_[row].process;
  const EventColumns::SourceCalls& calls = scratch.columns.source_calls;
  const std::size_t of_mpi = scratch.start_ns.size();
  std::vector<std::size_t> others;
  const auto add = [&](std::size_t number, std::int64_t start_ns, std::int64_t duration_ns, std::uint16_t function) {
    others.push_back(number);
    scratch.start_ns.push_back(start_ns);
    scratch.duration_ns.push_back(duration_ns);
    scratch.function.push_back(function);
  };
  for (std::size_t i = 0; i < calls.type.size(); ++i) {
    const std::uint16_t function = FunctionNames::lookup(*process.functions, calls.type[i]);
    if (meaning_of(function).waits != Waits::nobody)
      add(of_mpi + i, process.time_of(calls.time[i]), process.span_ns(calls.time[i], calls.time[i] + calls.duration[i]),
          function);
  }
  for (const DecodedSpan& loss : scratch.columns.losses)
    add(SIZE_MAX, process.time_of(loss.enter), process.span_ns(loss.enter, loss.leave), TimelineCall::gap);
  if (rows_[row].lacks_begin && &chunk == locations_[row].chunks.data() && !scratch.start_ns.empty()) {
    const std::int64_t begin_ns = process.clock.unix_ns(begin_ticks(process));
    const std::int64_t first_ns = *std::min_element(scratch.start_ns.begin(), scratch.start_ns.end());
    if (first_ns > begin_ns) add(SIZE_MAX, begin_ns, difference(first_ns, begin_ns), TimelineCall::gap);
  }
  scratch.number.clear();
  if (others.empty()) return;
  std::vector<std::size_t> order(scratch.start_ns.size()), numbers(of_mpi);
  std::iota(numbers.begin(), numbers.end(), std::size_t{0});
  numbers.insert(numbers.end(), others.begin(), others.end());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return scratch.start_ns[a] < scratch.start_ns[b]; });
  const auto sort = [&](auto& values) {
    const auto unsorted = values;
    std::transform(order.begin(), order.end(), values.begin(), [&](std::size_t at) { return unsorted[at]; });
  };
  sort(scratch.start_ns);
  sort(scratch.duration_ns);
  sort(scratch.function);
  sort(numbers);
  scratch.number = std::move(numbers);
}

// Decodes a chunk into `scratch` and calls `visitor`. False if the chunk cannot be read.
template <typename Visit>
bool Timeline::visit(std::size_t row, const Chunk& chunk, Scratch& scratch, const Visit& visitor) const {
  std::string reason;
  const ChunkRef& ref = *chunk.ref;
  if (!load_chunk(ref, scratch.raw, reason) ||
      !decode_columns(ref.header, scratch.raw.data(), scratch.raw.size(), scratch.columns, reason))
    return false;
  const Process& process = *rows_[row].process;
  const auto& calls = scratch.columns.calls;
  const auto& recorded = scratch.columns.signatures.function;
  scratch.of_signature.resize(recorded.size());
  for (std::size_t i = 0; i < recorded.size(); ++i)
    scratch.of_signature[i] = FunctionNames::lookup(*process.functions, static_cast<std::uint16_t>(recorded[i]));
  const std::size_t n = calls.enter.size();
  scratch.function.resize(n);
  for (std::size_t i = 0; i < n; ++i)
    scratch.function[i] = scratch.of_signature[static_cast<std::size_t>(calls.signature[i])];
  scratch.ticks.resize(n);
  scratch.start_ns.resize(n);
  for (std::size_t i = 0; i < n; ++i) scratch.ticks[i] = calls.enter[i] << process.shift();
  process.clock.unix_ns(scratch.ticks.data(), n, scratch.start_ns.data());
  scratch.duration_ns.resize(n);
  for (std::size_t i = 0; i < n; ++i)
    scratch.duration_ns[i] = process.clock.duration_ns(calls.duration[i] << process.shift());
  add_others(row, chunk, scratch);
  process.move(rows_[row].thread, scratch.start_ns.data(), scratch.duration_ns.data(), scratch.start_ns.size());
  visitor();
  return true;
}

// Begin and end of a span after its times were moved (Process::shown).
std::pair<std::int64_t, std::int64_t> Timeline::shown(std::size_t row, const DecodedSpan& span) const {
  const Process& process = *rows_[row].process;
  const std::uint32_t thread = rows_[row].thread;
  return {process.shown(thread, process.time_of(span.enter)), process.shown(thread, process.time_of(span.leave))};
}

TimelineCall Timeline::described(std::size_t row, const Scratch& scratch, std::size_t call) const {
  const Process& process = *rows_[row].process;
  const auto& columns = scratch.columns;
  const auto& signatures = columns.signatures;
  const std::size_t number = scratch.number.empty() ? call : scratch.number[call];
  const std::size_t of_mpi = columns.calls.signature.size();
  if (number == SIZE_MAX)
    return {static_cast<std::uint32_t>(row),
            scratch.start_ns[call],
            scratch.duration_ns[call],
            scratch.function[call],
            -1,
            -1,
            -1};
  if (number >= of_mpi) {
    const std::size_t i = number - of_mpi;
    const std::uint32_t* first = columns.source_calls.first.data() + i;
    const std::int64_t bytes =
        run_->functions().bytes_among(scratch.function[call], columns.arguments.data() + first[0], first[1] - first[0]);
    return {static_cast<std::uint32_t>(row),
            scratch.start_ns[call],
            scratch.duration_ns[call],
            scratch.function[call],
            process.sites.find(static_cast<std::uint32_t>(columns.source_calls.site[i])),
            -1,
            bytes};
  }
  const auto s = static_cast<std::size_t>(columns.calls.signature[number]);
  const std::int32_t communicator = process.communicators.find(static_cast<std::uint32_t>(signatures.communicator[s]));
  const auto peer = static_cast<std::int32_t>(signatures.peer[s]);
  std::int32_t world_rank = -1;
  if (communicator >= 0 && peer >= 0)
    world_rank = run_->communicators()[static_cast<std::size_t>(communicator)].world_rank(process.record.rank, peer);
  return {static_cast<std::uint32_t>(row),
          scratch.start_ns[call],
          scratch.duration_ns[call],
          scratch.function[call],
          process.sites.find(static_cast<std::uint32_t>(signatures.site[s])),
          world_rank,
          signatures.bytes[s]};
}

Result<Timeline> Timeline::read(Run& run) {
  Timeline made(run);
  run.sites();  // its first call is not thread-safe
  auto chunks = EventChunks::of(run);
  if (!chunks) return chunks.failure();
  made.chunks_ = std::move(*chunks);
  made.warnings_ = made.chunks_.warnings;
  for (std::size_t number = 0; number < run.functions().names().size(); ++number)
    made.activity_.push_back(activity_of(static_cast<std::uint16_t>(number)));
  made.start_ns_ = INT64_MAX;
  made.end_ns_ = INT64_MIN;
  std::set<std::pair<const Process*, std::uint32_t>> cut;  // locations
  for (const reader::Location& of : run.locations())
    if (const Process& process = run.processes()[of.process];
        of.totals.overwritten_bytes != 0 && (process.record.flags & overwrites) != 0)
      cut.emplace(&process, of.block);
  for (const EventChunks::Block& block : made.chunks_.blocks) {
    if (block.chunks.empty() || is_of_tared(block.chunks.front().header.block)) continue;
    Row row{block.process, block.chunks.back().header.location, 0};
    row.lacks_begin = cut.contains({block.process, block.chunks.front().header.block});
    Location location;
    for (const ChunkRef& chunk : block.chunks) {
      row.records += chunk.header.records;
      location.chunks.push_back({&chunk, INT64_MAX, INT64_MIN});
    }
    const ProcessRecord& record = block.process->record;
    made.start_ns_ = std::min(made.start_ns_, block.process->clock.unix_ns(record.clock_start.ticks));
    made.end_ns_ = std::max(made.end_ns_, block.process->clock.unix_ns(block.process->end));
    made.rows_.push_back(row);
    made.locations_.push_back(std::move(location));
  }
  if (made.rows_.empty()) {
    made.start_ns_ = made.end_ns_ = 0;
    return made;
  }
  made.end_ns_ = std::max(made.end_ns_, sum(made.start_ns_, 1));
  const unsigned threads = threads_for(made.rows_.size(), 1);
  std::vector<Scratch> scratch(threads);
  parallel(made.rows_.size(), threads, [&](unsigned thread, std::size_t row) { made.read_row(row, scratch[thread]); });
  made.add_observed();
  for (std::size_t row = 0; row < made.rows_.size(); ++row)
    for (const Chunk& chunk : made.locations_[row].chunks)
      if (chunk.first_ns == INT64_MIN)
        made.warnings_.push_back(
            damaged_events(made.chunks_.file_names[chunk.ref->file], *chunk.ref, "it cannot be decoded"));
  return made;
}

void Timeline::read_row(std::size_t row, Scratch& scratch) {
  const std::size_t fair = max_bins / rows_.size();
  const std::size_t bins = std::bit_floor(std::clamp(fair, fewest_bins, max_bins_of_a_row));
  Location& location = locations_[row];
  std::vector<Bin> base(bins);
  BinFiller filler(whole(bins), base.data(), activity_.size());
  for (Chunk& chunk : location.chunks) {
    const bool is_read = visit(row, chunk, scratch, [&] {
      for (std::size_t i = 0; i < scratch.start_ns.size(); ++i) {
        const std::uint16_t function = scratch.function[i];
        const std::int64_t duration = scratch.duration_ns[i];
        const std::int64_t start = scratch.start_ns[i];
        filler.add_call(start, sum(start, duration), activity(function), function);
        if (function != TimelineCall::gap) chunk.first_call_ns = std::min(chunk.first_call_ns, start);
        chunk.first_ns = std::min(chunk.first_ns, start);
        chunk.last_ns = std::max(chunk.last_ns, sum(start, duration));
      }
      for (const DecodedSpan& flush : scratch.columns.flushes) {
        const auto [start, end] = shown(row, flush);
        filler.add_flush(start, end);
        chunk.first_ns = std::min(chunk.first_ns, start);
        chunk.last_ns = std::max(chunk.last_ns, end);
      }
    });
    if (!is_read) chunk.first_ns = INT64_MIN;
  }
  filler.finish();
  location.levels.push_back(std::move(base));
  add_levels(location);
  add_threads(row);
}

// A chunk is of one thread. The flush of a thread that has ended may lie in a chunk of the next one.
void Timeline::add_threads(std::size_t row) {
  std::vector<ThreadSince>& threads = rows_[row].threads;
  for (const Chunk& chunk : locations_[row].chunks) {
    const std::uint32_t thread = chunk.ref->header.location;
    if (chunk.first_call_ns != INT64_MAX && (threads.empty() || threads.back().thread != thread))
      threads.push_back({chunk.first_call_ns, thread});
  }
}

// Readings are made from the end of MPI_Init to the begin of MPI_Finalize, by threads that call MPI or work on files.
void Timeline::add_observed() {
  const Process* process = nullptr;
  std::vector<Scheduling> read;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    Row& row = rows_[i];
    if (row.process != process) read = read_scheduling((process = row.process)->scheduling);
    const std::uint32_t block = locations_[i].chunks.front().ref->header.block;
    const bool is_observed = std::any_of(read.begin(), read.end(), [&](const Scheduling& of) {
      return of.sums.block == block && of.sums.observed_ns != 0;
    });
    const ProcessRecord& record = process->record;
    if (!is_observed || record.init_leave == 0) continue;
    const std::uint64_t end = record.finalize_enter != 0 ? record.finalize_enter : process->end;
    row.observed_from_ns = process->shown(row.thread, process->clock.unix_ns(record.init_leave));
    row.observed_to_ns = process->shown(row.thread, process->clock.unix_ns(end));
  }
}

// The levels above the lowest.
void Timeline::add_levels(Location& location) {
  location.levels.resize(1);
  while (location.levels.back().size() > coarsening * fewest_bins)
    location.levels.push_back(coarser(location.levels.back(), coarsening));
}

void Timeline::set_waits(WaitLines waits) {
  waits_ = std::move(waits);
  parallel(rows_.size(), threads_for(rows_.size(), 1), [&](unsigned, std::size_t row) {
    auto& levels = locations_[row].levels;
    mark_waits(row, whole(levels.front().size()), levels.front().data());
    add_levels(locations_[row]);
  });
}

template <typename Use>
void Timeline::for_waits(std::size_t row, std::int64_t from_ns, std::int64_t to_ns, const Use& use) const {
  if (row >= waits_.of_row.size()) return;
  const auto& of = waits_.of_row[row];
  // They do not overlap one another, so only the one before may reach into the interval.
  auto at = std::partition_point(of.begin(), of.end(), [&](const WaitLine& w) { return w.start_ns < from_ns; });
  if (at != of.begin()) --at;
  for (; at != of.end() && at->start_ns < to_ns; ++at)
    if (sum(at->start_ns, at->wait_ns) > from_ns) use(*at);
}

void Timeline::mark_waits(std::size_t row, const Grid& grid, Bin* bins) const {
  for_waits(row, grid.from_ns, grid.to_ns, [&](const WaitLine& wait) {
    if (wait.function < activity_.size())
      mark_wait(grid, bins, wait.start_ns, sum(wait.start_ns, wait.wait_ns), activity_[wait.function]);
  });
}

std::int64_t Timeline::waited_ns(std::size_t row, std::int64_t from_ns, std::int64_t to_ns) const {
  std::int64_t all = 0;
  for_waits(row, from_ns, to_ns, [&](const WaitLine& wait) {
    all = sum(all, difference(std::min(sum(wait.start_ns, wait.wait_ns), to_ns), std::max(wait.start_ns, from_ns)));
  });
  return all;
}

void Timeline::from_events(std::size_t row, const Grid& grid, Bin* bins, Scratch& scratch) const {
  BinFiller filler(grid, bins, activity_.size());
  for (const Chunk& chunk : locations_[row].chunks) {
    if (chunk.last_ns < grid.from_ns || chunk.first_ns >= grid.to_ns || chunk.first_ns == INT64_MIN) continue;
    visit(row, chunk, scratch, [&] {
      const auto& starts = scratch.start_ns;
      for (std::size_t i = 0; i < starts.size() && starts[i] < grid.to_ns; ++i) {
        const std::int64_t end = sum(starts[i], scratch.duration_ns[i]);
        if (end <= grid.from_ns) continue;
        filler.add_call(starts[i], end, activity(scratch.function[i]), scratch.function[i]);
      }
      for (const DecodedSpan& flush : scratch.columns.flushes) {
        const auto [from, to] = shown(row, flush);
        filler.add_flush(from, to);
      }
    });
  }
  filler.finish();
  mark_waits(row, grid, bins);
}

// The bins of one location on any grid.
std::vector<Bin> Timeline::of_row(std::size_t row, const Grid& grid, bool exactly, Scratch& scratch) const {
  const auto& levels = locations_[row].levels;
  std::vector<Bin> result(grid.bins);
  const double width = grid.width_ns();
  const std::vector<Bin>* level = levels.data();
  if (exactly && whole(level->size()).width_ns() > width) {
    from_events(row, grid, result.data(), scratch);
    return result;
  }
  for (const auto& each : levels)
    if (whole(each.size()).width_ns() <= width) level = &each;
  const Grid own = whole(level->size());
  BinSum sum;
  for (std::size_t i = 0; i < grid.bins; ++i) {
    // Differences are computed as integers, because Unix times in ns do not fit into a double.
    const double from =
        (static_cast<double>(difference(grid.from_ns, own.from_ns)) + static_cast<double>(i) * width) / own.width_ns();
    const double to = from + width / own.width_ns();
    const auto last = static_cast<std::int64_t>(std::min(to, static_cast<double>(own.bins)));
    for (auto b = std::max<std::int64_t>(static_cast<std::int64_t>(from), 0); b <= last; ++b) {
      const double overlap = std::min(to, static_cast<double>(b + 1)) - std::max(from, static_cast<double>(b));
      if (overlap > 0 && b < static_cast<std::int64_t>(own.bins))
        sum.add((*level)[static_cast<std::size_t>(b)], overlap);
    }
    result[i] = sum.take();
  }
  return result;
}

std::vector<Bin> Timeline::bins(const Window& window, std::size_t columns) const {
  std::vector<Bin> result(window.rows * columns);
  if (window.to_ns <= window.from_ns || columns == 0 || window.group == 0) return result;
  const Grid grid{window.from_ns, window.to_ns, columns};
  const bool exactly = window.rows * window.group <= max_exact_rows;
  const unsigned threads = threads_for(window.rows, 1);
  std::vector<Scratch> scratch(threads);
  parallel(window.rows, threads, [&](unsigned thread, std::size_t i) {
    const std::size_t first = window.first + i * window.group;
    const std::size_t end = std::min(first + window.group, rows_.size());
    if (first >= end) return;
    const auto out = result.begin() + static_cast<std::ptrdiff_t>(i * columns);
    if (window.group == 1) {
      const auto made = of_row(first, grid, exactly, scratch[thread]);
      std::copy(made.begin(), made.end(), out);
      return;
    }
    std::vector<BinSum> sums(columns);
    for (std::size_t row = first; row < end; ++row) {
      const auto made = of_row(row, grid, exactly, scratch[thread]);
      for (std::size_t c = 0; c < columns; ++c) sums[c].add(made[c], 1);
    }
    for (std::size_t c = 0; c < columns; ++c) out[static_cast<std::ptrdiff_t>(c)] = sums[c].take();
  });
  return result;
}

Timeline::Calls Timeline::calls(const Window& window, std::size_t most) const {
  Calls result;
  const std::size_t end = std::min(window.first + window.rows, rows_.size());
  // Before decoding, estimates the number of calls from the records of the chunks and their overlap with the window.
  double guessed = 0;
  std::vector<std::pair<std::size_t, const Chunk*>> touched;
  for (std::size_t row = window.first; row < end; ++row)
    for (const Chunk& chunk : locations_[row].chunks) {
      if (chunk.last_ns < window.from_ns || chunk.first_ns >= window.to_ns || chunk.first_ns == INT64_MIN) continue;
      touched.emplace_back(row, &chunk);
      const auto overlap = static_cast<double>(
          difference(std::min(chunk.last_ns, window.to_ns), std::max(chunk.first_ns, window.from_ns)));
      const auto length = static_cast<double>(std::max<std::int64_t>(difference(chunk.last_ns, chunk.first_ns), 1));
      guessed += overlap / length * chunk.ref->header.records;
    }
  if (guessed > 8 * static_cast<double>(most) + 65536) return result;
  Scratch scratch;
  for (const auto& [row, chunk] : touched) {
    visit(row, *chunk, scratch, [&, row = row] {
      const auto& enter = scratch.start_ns;
      for (std::size_t i = 0; i < enter.size() && enter[i] < window.to_ns && result.calls.size() <= most; ++i) {
        if (sum(enter[i], scratch.duration_ns[i]) < window.from_ns) continue;
        result.calls.push_back(described(row, scratch, i));
      }
      for (const DecodedSpan& flush : scratch.columns.flushes) {
        const auto [from, to] = shown(row, flush);
        if (to >= window.from_ns && from < window.to_ns)
          result.calls.push_back({static_cast<std::uint32_t>(row), from, difference(to, from), TimelineCall::flush, -1,
                                  -1, static_cast<std::int64_t>(flush.bytes)});
      }
    });
    if (result.calls.size() > most) {
      result.calls.clear();
      return result;
    }
  }
  result.complete = true;
  return result;
}

std::vector<TimelineCall> Timeline::around(std::size_t row, std::int64_t time_ns) const {
  std::vector<TimelineCall> found;
  if (row >= rows_.size()) return found;
  std::vector<const Chunk*> chunks;  // those that can be read, in the order of time
  for (const Chunk& chunk : locations_[row].chunks)
    if (chunk.first_ns != INT64_MIN) chunks.push_back(&chunk);
  const auto behind =
      std::find_if(chunks.begin(), chunks.end(), [&](const Chunk* chunk) { return chunk->first_ns > time_ns; });
  Scratch scratch;
  std::optional<TimelineCall> before, after;
  std::vector<TimelineCall> under_way;
  const auto look = [&](const Chunk& chunk) {
    visit(row, chunk, scratch, [&] {
      for (std::size_t i = 0; i < scratch.start_ns.size(); ++i) {
        const std::int64_t start_ns = scratch.start_ns[i], end_ns = sum(start_ns, scratch.duration_ns[i]);
        if (start_ns > time_ns) {
          if (!after || start_ns < after->start_ns) after = described(row, scratch, i);
          return;
        }
        if (end_ns > time_ns)
          under_way.push_back(described(row, scratch, i));
        else if (!before || end_ns >= sum(before->start_ns, before->duration_ns))
          before = described(row, scratch, i);
      }
    });
  };
  for (auto at = behind; at != chunks.begin() && !before;) look(**--at);
  for (auto at = behind; at != chunks.end() && !after; ++at) look(**at);
  if (before) found.push_back(*before);
  found.insert(found.end(), under_way.begin(), under_way.end());
  if (after) found.push_back(*after);
  return found;
}

Timeline::Found<TimelineCall> Timeline::find(const Search& search, std::size_t most) const {
  const std::size_t first = std::min(search.first, rows_.size());
  const std::size_t count = std::min(search.rows, rows_.size() - first);
  const unsigned threads = threads_for(count, 1);
  std::vector<Scratch> scratch(threads);
  std::vector<Longest<TimelineCall>> found(threads, Longest<TimelineCall>(most));
  parallel(count, threads, [&](unsigned thread, std::size_t i) {
    const std::size_t row = first + i;
    Scratch& of = scratch[thread];
    Longest<TimelineCall>& own = found[thread];
    for (const Chunk& chunk : locations_[row].chunks) {
      if (chunk.first_ns == INT64_MIN) continue;
      visit(row, chunk, of, [&] {
        for (std::size_t call = 0; call < of.start_ns.size(); ++call) {
          const std::int64_t duration_ns = of.duration_ns[call];
          if (duration_ns < search.min_ns) continue;
          if (search.peer < 0 && search.fits(of.function[call]) && !own.keeps(duration_ns)) {
            own.skip();
            continue;
          }
          const TimelineCall each = described(row, of, call);
          if (search.peer >= 0 && each.peer != search.peer) continue;
          if (search.fits(each.function, each.site)) own.add(each);
        }
      });
    }
  });
  Longest<TimelineCall> all(most);
  for (const auto& each : found) all.add(each);
  return {all.count(), all.take()};
}

Timeline::Found<WaitLine> Timeline::find_waits(const Search& search, std::size_t most) const {
  Longest<WaitLine> found(most);
  for (std::size_t row = search.first; row < waits_.of_row.size() && row - search.first < search.rows; ++row)
    for (const WaitLine& wait : waits_.of_row[row])
      if (wait.wait_ns >= search.min_ns && search.fits(wait.function, wait.site) &&
          (search.peer < 0 || rows_[wait.cause_row].process->record.rank == search.peer))
        found.add(wait);
  return {found.count(), found.take()};
}

Timeline::LongCalls Timeline::longest(std::size_t most) const {
  // One more, to know from which duration on there are too many.
  Found<TimelineCall> found = find({}, most + 1);
  LongCalls result;
  result.calls = std::move(found.longest);
  const auto min_ns = [&result] {
    std::int64_t least = INT64_MAX;
    for (const TimelineCall& call : result.calls) least = std::min(least, call.duration_ns);
    return least;
  };
  if (result.calls.size() > most)
    std::erase_if(result.calls, [least = min_ns()](const TimelineCall& call) { return call.duration_ns == least; });
  result.min_ns = found.count <= most || result.calls.empty() ? 0 : min_ns();
  std::sort(result.calls.begin(), result.calls.end(), [](const TimelineCall& a, const TimelineCall& b) {
    return a.row != b.row ? a.row < b.row : a.start_ns < b.start_ns;
  });
  return result;
}

std::vector<WaitLine> Timeline::waits(const Window& window, std::size_t most) const {
  Longest<WaitLine> found(most);
  for (std::size_t row = window.first; row < waits_.of_row.size() && row - window.first < window.rows; ++row)
    for_waits(row, window.from_ns, window.to_ns, [&](const WaitLine& wait) { found.add(wait); });
  return found.take();
}

std::vector<PathLine> Timeline::path(const Window& window, std::size_t most) const {
  Longest<PathLine> found(most);
  for (const PathLine& line : waits_.path)
    if (line.begin_ns < window.to_ns && line.end_ns > window.from_ns && line.row >= window.first &&
        line.row - window.first < window.rows)
      found.add(line);
  return found.take();
}

}  // namespace tare::reader
