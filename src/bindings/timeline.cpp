#include <nanobind/stl/unique_ptr.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <utility>

#include "bindings/fields.h"
#include "bindings/parts.h"
#include "bindings/structure.h"
#include "reader/structure/iteration_curve.h"
#include "reader/timeline/message_lines.h"
#include "reader/timeline/read_wait_lines.h"
#include "reader/timeline/timeline.h"

namespace tare::bindings {
namespace {

using reader::Timeline;

// Columns one after another, little-endian, each padded to 8 bytes, as the page reads them.
class Columns {
 public:
  template <typename T, typename Rows, typename Of>
  void add(const Rows& rows, const Of& value_of) {
    const std::size_t at = bytes_.size();
    bytes_.resize(at + (rows.size() * sizeof(T) + 7) / 8 * 8);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto value = static_cast<T>(value_of(rows[i]));
      std::memcpy(bytes_.data() + at + i * sizeof value, &value, sizeof value);
    }
  }
  nb::bytes take() const { return nb::bytes(bytes_.data(), bytes_.size()); }

 private:
  std::vector<char> bytes_;
};

Columns of_calls(const std::vector<reader::TimelineCall>& calls, std::int64_t origin_ns) {
  using Call = reader::TimelineCall;
  Columns columns;
  columns.add<double>(calls, [&](const Call& call) { return call.start_ns - origin_ns; });
  columns.add<double>(calls, [](const Call& call) { return call.duration_ns; });
  columns.add<double>(calls, [](const Call& call) { return call.bytes; });
  columns.add<std::uint32_t>(calls, [](const Call& call) { return call.row; });
  columns.add<std::int32_t>(calls, [](const Call& call) { return call.site; });
  columns.add<std::int32_t>(calls, [](const Call& call) { return call.peer; });
  columns.add<std::uint16_t>(calls, [](const Call& call) { return call.function; });
  return columns;
}

Columns of_lines(const std::vector<reader::MessageLine>& lines, std::int64_t origin_ns) {
  using Line = reader::MessageLine;
  Columns columns;
  columns.add<double>(lines, [&](const Line& line) { return line.sent_ns - origin_ns; });
  columns.add<double>(lines, [](const Line& line) { return line.taken_ns - line.sent_ns; });
  columns.add<double>(lines, [](const Line& line) { return line.bytes; });
  columns.add<std::uint32_t>(lines, [](const Line& line) { return line.from; });
  columns.add<std::uint32_t>(lines, [](const Line& line) { return line.to; });
  columns.add<std::int32_t>(lines, [](const Line& line) { return line.tag; });
  return columns;
}

Columns of_waits(const std::vector<reader::WaitLine>& waits, std::int64_t origin_ns) {
  using Wait = reader::WaitLine;
  Columns columns;
  columns.add<double>(waits, [&](const Wait& wait) { return reader::difference(wait.start_ns, origin_ns); });
  columns.add<double>(waits, [](const Wait& wait) { return wait.wait_ns; });
  columns.add<double>(waits, [&](const Wait& wait) { return reader::difference(wait.cause_ns, origin_ns); });
  columns.add<std::uint32_t>(waits, [](const Wait& wait) { return wait.row; });
  columns.add<std::uint32_t>(waits, [](const Wait& wait) { return wait.cause_row; });
  columns.add<std::int32_t>(waits, [](const Wait& wait) { return wait.site; });
  columns.add<std::uint16_t>(waits, [](const Wait& wait) { return wait.function; });
  columns.add<std::uint16_t>(waits, [](const Wait& wait) { return static_cast<std::uint16_t>(wait.kind); });
  return columns;
}

Columns of_path(const std::vector<reader::PathLine>& path, std::int64_t origin_ns) {
  using Line = reader::PathLine;
  Columns columns;
  columns.add<double>(path, [&](const Line& line) { return reader::difference(line.begin_ns, origin_ns); });
  columns.add<double>(path, [](const Line& line) { return length_ns(line); });
  columns.add<std::uint32_t>(path, [](const Line& line) { return line.row; });
  return columns;
}

using Since = std::pair<std::int64_t, std::uint32_t>;
using Interval = std::pair<std::int64_t, std::int64_t>;

struct Row {
  std::int32_t world = 0, rank = -1;
  std::int64_t pid = 0;
  std::uint32_t thread = 0;
  std::vector<Since> threads{};
  std::optional<Interval> observed{};
  std::uint64_t records = 0;
};

// Calls, messages, waits or intervals of the path: how many, and their columns.
using Found = std::pair<std::size_t, nb::bytes>;
// What a search has found: how many there are, and those that are listed.
using Search = std::tuple<std::uint64_t, std::size_t, nb::bytes>;

// Times are relative to the start of the timeline.
class PyTimeline {
 public:
  explicit PyTimeline(std::shared_ptr<PyRun::Shared> run) : shared_(std::move(run)), timeline_(read()) {
    shared_->set_stream_warnings(timeline_.warnings());
  }

  PyTimeline(const PyTimeline&) = delete;
  PyTimeline& operator=(const PyTimeline&) = delete;

  std::int64_t start_ns() const { return timeline_.start_ns(); }
  std::int64_t end_ns() const { return timeline_.end_ns(); }
  std::vector<Row> rows() const {
    std::vector<Row> rows;
    const auto since_start = [this](std::int64_t ns) { return reader::difference(ns, timeline_.start_ns()); };
    for (const Timeline::Row& row : timeline_.rows()) {
      const format::ProcessRecord& record = row.process->record;
      Row& to = rows.emplace_back(
          Row{row.process->world, record.rank, static_cast<std::int64_t>(record.pid), row.thread, {}, {}, row.records});
      for (const auto& [ns, thread] : row.threads) to.threads.emplace_back(since_start(ns), thread);
      if (row.observed_to_ns > row.observed_from_ns)
        to.observed = Interval(since_start(row.observed_from_ns), since_start(row.observed_to_ns));
    }
    return rows;
  }
  nb::bytes bins(std::size_t first, std::size_t rows, std::size_t group, std::int64_t from_ns, std::int64_t to_ns,
                 std::size_t columns) const {
    constexpr std::size_t most = 16U << 20;
    if (rows != 0 && columns > most / rows) throw nb::value_error("too many bins");
    std::vector<reader::Bin> bins;
    Columns made;
    {
      const nb::gil_scoped_release unlocked;
      const std::shared_lock using_it(waits_);
      bins = timeline_.bins(window(first, rows, group, from_ns, to_ns), columns);
      for (std::size_t i = 0; i < reader::activities; ++i)
        made.add<std::uint8_t>(bins, [i](const reader::Bin& bin) { return (bin.share[i] + 128U) / 257U; });
      made.add<std::uint16_t>(bins, [](const reader::Bin& bin) { return bin.function; });
    }
    return made.take();
  }
  std::optional<Found> calls(std::size_t first, std::size_t rows, std::int64_t from_ns, std::int64_t to_ns,
                             std::size_t most) const {
    Timeline::Calls found;
    Columns made;
    {
      const nb::gil_scoped_release unlocked;
      found = timeline_.calls(window(first, rows, 1, from_ns, to_ns), most);
      made = of_calls(found.calls, timeline_.start_ns());
    }
    if (!found.complete) return std::nullopt;
    return Found(found.calls.size(), made.take());
  }
  std::tuple<std::int64_t, std::size_t, nb::bytes> longest(std::size_t most) const {
    Timeline::LongCalls found;
    Columns made;
    {
      const nb::gil_scoped_release unlocked;
      found = timeline_.longest(most);
      made = of_calls(found.calls, timeline_.start_ns());
    }
    return {found.min_ns, found.calls.size(), made.take()};
  }
  Found around(std::size_t row, std::int64_t time_ns) const {
    return listed([&] { return timeline_.around(row, timeline_.start_ns() + time_ns); }, of_calls);
  }
  Found waits(std::size_t first, std::size_t rows, std::int64_t from_ns, std::int64_t to_ns, std::size_t most) const {
    return listed([&] { return timeline_.waits(window(first, rows, 1, from_ns, to_ns), most); }, of_waits);
  }
  Found path(std::size_t first, std::size_t rows, std::int64_t from_ns, std::int64_t to_ns, std::size_t most) const {
    return listed([&] { return timeline_.path(window(first, rows, 1, from_ns, to_ns), most); }, of_path);
  }
  Search find(const reader::Search& search, bool among_waits, std::size_t most) const {
    std::uint64_t count = 0;
    const auto take = [&count](auto found) {
      count = found.count;
      return std::move(found.longest);
    };
    const Found found = among_waits ? listed([&] { return take(timeline_.find_waits(search, most)); }, of_waits)
                                    : listed([&] { return take(timeline_.find(search, most)); }, of_calls);
    return {count, found.first, found.second};
  }
  std::vector<reader::IterationPoint> curve(const std::vector<const Loop*>& loops, std::size_t most) const {
    const nb::gil_scoped_release unlocked;
    const std::shared_lock using_it(waits_);
    std::vector<reader::IterationPoint> points = iteration_curve(timeline_, {loops.begin(), loops.end()}, most);
    for (reader::IterationPoint& point : points)
      point.start_ns = reader::difference(point.start_ns, timeline_.start_ns());
    return points;
  }
  // Bins, waits and the path have what it found from its end on.
  void find_waits() {
    const nb::gil_scoped_release unlocked;
    reader::WaitLines found = unwrap(reader::read_wait_lines(shared_->run, timeline_, stop_));
    const std::unique_lock changing(waits_);
    timeline_.set_waits(std::move(found));
  }
  // Makes match() and find_waits(), which another thread executes, end early.
  void stop() { stop_ = true; }
  // How many messages have a line, and how many there are.
  std::pair<std::size_t, std::uint64_t> match(std::size_t most) {
    const nb::gil_scoped_release unlocked;
    auto lines = unwrap(reader::MessageLines::read(shared_->run, timeline_, most, stop_));
    const nb::gil_scoped_acquire locked;
    lines_ = std::make_shared<const reader::MessageLines>(std::move(lines));
    return {lines_->lines().size(), lines_->matched()};
  }
  std::optional<Found> messages(std::size_t first, std::size_t rows, std::int64_t from_ns, std::int64_t to_ns,
                                std::size_t most) const {
    const auto lines = lines_;
    if (lines == nullptr) return std::nullopt;
    return listed([&] { return lines->of(window(first, rows, 1, from_ns, to_ns), most); }, of_lines);
  }

 private:
  template <typename Look, typename ColumnsOf>
  Found listed(const Look& look, const ColumnsOf& columns_of) const {
    Columns made;
    std::size_t count = 0;
    {
      const nb::gil_scoped_release unlocked;
      const std::shared_lock using_it(waits_);
      const auto found = look();
      count = found.size();
      made = columns_of(found, timeline_.start_ns());
    }
    return Found(count, made.take());
  }
  Timeline read() {
    const nb::gil_scoped_release unlocked;
    return unwrap(Timeline::read(shared_->run));
  }
  Timeline::Window window(std::size_t first, std::size_t rows, std::size_t group, std::int64_t from_ns,
                          std::int64_t to_ns) const {
    return {first, rows, group, timeline_.start_ns() + from_ns, timeline_.start_ns() + to_ns};
  }

  std::shared_ptr<PyRun::Shared> shared_;
  Timeline timeline_;
  mutable std::shared_mutex waits_;  // of timeline_
  std::shared_ptr<const reader::MessageLines> lines_;
  std::atomic<bool> stop_ = false;
};

}  // namespace

void define_timeline(nb::module_& module, nb::class_<PyRun>& run) {
  using namespace nb::literals;
  Fields<Row>(
      module, "TimelineRow",
      "A location with events. `thread`: the last of `threads`, which had it one after another, each with the begin "
      "of\n"
      "its first call. `observed`: in which time of it readings tell when they were on a processor, if any do; both\n"
      "since the start of the timeline.")
      .members<&Row::world, &Row::rank, &Row::pid, &Row::thread, &Row::threads, &Row::observed, &Row::records>();
  using Point = reader::IterationPoint;
  Fields<Point>(
      module, "IterationPoint",
      "An iteration of a loop over its ranks. It takes `longest_ns` on the rank of a row of the timeline, where "
      "it begins `start_ns` after the timeline. `imbalance_ns`: time outside MPI of the rank with the most, "
      "beyond the mean. `waiting_ns`: in wait states, mean of the ranks.")
      .members<&Point::number, &Point::row, &Point::start_ns, &Point::longest_ns, &Point::imbalance_ns,
               &Point::waiting_ns>();
  nb::class_<PyTimeline>(
      module, "Timeline",
      "A trace as a picture in time, at any zoom; read once. Times of methods are since `start_ns`.\n\n"
      "Bytes are columns one after another, each padded to 8 bytes, as assets/timeline_data.js reads them.\n"
      "Bins: the share of each of ACTIVITIES (u8, 255 is all), row by row; the function with the most time (u16,\n"
      "an index of `Run.functions()`, 65535: none). Calls: start, duration, bytes (f64), row (u32), site, peer\n"
      "(i32), function (u16; 65534: a flush, 65533: a gap in the trace). Messages: sent, how long until received, "
      "bytes (f64), rows from and\n"
      "to (u32), tag (i32). Waits: start, duration, when the call that was waited for began (f64), row, row of that\n"
      "call (u32), site (i32), function, kind (u16, an index of WAIT_KINDS). Critical path: start, duration (f64),\n"
      "row (u32).")
      .def_prop_ro("start_ns", &PyTimeline::start_ns)
      .def_prop_ro("end_ns", &PyTimeline::end_ns)
      .def("rows", &PyTimeline::rows)
      .def("bins", &PyTimeline::bins, "first"_a, "rows"_a, "group"_a, "from_ns"_a, "to_ns"_a, "columns"_a,
           "`rows` rows from location `first` on, each of `group` locations.")
      .def("calls", &PyTimeline::calls, "first"_a, "rows"_a, "from_ns"_a, "to_ns"_a, "most"_a,
           "How many calls and flushes touch the window, and their columns; None if more than `most`.")
      .def("longest", &PyTimeline::longest, "most"_a,
           "All calls of at least so many nanoseconds (0: all), how many, and their columns; at most `most`.")
      .def("around", &PyTimeline::around, "row"_a, "time_ns"_a,
           "The call before a time, those under way, and the next: how many there are, and their columns.")
      .def("waits", &PyTimeline::waits, "first"_a, "rows"_a, "from_ns"_a, "to_ns"_a, "most"_a,
           "The longest waits that touch the window; none before find_waits().")
      .def("path", &PyTimeline::path, "first"_a, "rows"_a, "from_ns"_a, "to_ns"_a, "most"_a,
           "The longest intervals of the critical path that touch the window; none before find_waits().")
      .def(
          "find",
          [](const PyTimeline& of, std::vector<std::uint32_t> functions, std::vector<std::uint32_t> sites,
             std::uint32_t words, std::size_t first, std::size_t rows, std::int64_t min_ns, std::int32_t peer,
             bool waits, std::size_t most) {
            return of.find({std::move(functions), std::move(sites), words, first, rows, min_ns, peer}, waits, most);
          },
          "functions"_a, "sites"_a, "words"_a, "first"_a, "rows"_a, "min_ns"_a = 0, "peer"_a = -1, "waits"_a = false,
          "most"_a = 1,
          "Calls, or waits, whose function or site fits all words, which are bits: `functions` and `sites` have those\n"
          "that fit each. How many there are, how many of the longest are given, and their columns.")
      .def("curve", &PyTimeline::curve, "loops"_a, "most"_a,
           "How the iterations of loops of one phase go on, one loop of each rank; at most `most` points, of which\n"
           "each is the longest of several iterations if there are more. Waiting is known after find_waits().")
      .def("find_waits", &PyTimeline::find_waits, "Reads the waits and the critical path; may be called once.")
      .def("stop", &PyTimeline::stop, "Ends match() and find_waits() of another thread early.")
      .def("match", &PyTimeline::match, "most"_a,
           "Matches messages, keeps the `most` that took longest: how many were kept, how many there are.")
      .def("messages", &PyTimeline::messages, "first"_a, "rows"_a, "from_ns"_a, "to_ns"_a, "most"_a,
           "The longest of those kept that touch the window; None before match().");
  run.def(
      "timeline", [](const PyRun& of) { return std::make_unique<PyTimeline>(of.shared()); }, "Reads the whole trace.");
  nb::list names;
  for (const char* name : reader::activity_names) names.append(name);
  module.attr("ACTIVITIES") = names;
  nb::list kinds;
  for (const char* name : reader::wait_kind_names) kinds.append(name);
  module.attr("WAIT_KINDS") = kinds;
}

}  // namespace tare::bindings
