#include <nanobind/stl/filesystem.h>

#include "bindings/fields.h"
#include "bindings/parts.h"
#include "reader/replay/replay.h"

namespace tare::bindings {
using namespace nb::literals;

namespace {

// A method of Python's Run that makes rows of the reader's.
template <typename Rows, typename Of, typename... Arguments>
auto rows(Rows (*make)(Of&, Arguments...)) {
  return [make](PyRun& run, Arguments... arguments) { return make(run.run(), std::forward<Arguments>(arguments)...); };
}

const std::vector<std::string>& functions(const reader::Run& run) { return run.functions().names(); }

std::vector<std::string> event_names(const reader::Run& run) {
  std::vector<std::string> names;
  for (const reader::EventType& type : run.event_types()) names.push_back(type.name);
  return names;
}

std::vector<reader::Exchange> exchanges(reader::Run& run, std::int32_t max_groups) {
  constexpr std::int32_t max = 1024;  // the square of this is allocated
  if (max_groups < 1 || max_groups > max) throw nb::value_error("an exchange is of 1 to 1024 groups");
  const nb::gil_scoped_release unlocked;
  return run.answer({.exchanges = {max_groups}}).exchanges.front();
}

using Faster = std::tuple<std::int32_t, std::int32_t, double, std::int64_t>;
using Even = std::tuple<std::int32_t, std::int32_t, double>;
using Change = std::tuple<std::int32_t, std::vector<Faster>, std::vector<std::int32_t>, std::vector<Even>>;

std::vector<reader::ReplayedWorld> replayed_worlds(reader::Run& run, const std::vector<Change>& given) {
  std::vector<reader::Without> changes;
  for (const auto& [world, faster, not_waiting, even] : given) {
    reader::Without& change = changes.emplace_back(reader::Without{world, {}, not_waiting, {}});
    for (const auto& [rank, site, factor, max_ns] : faster) change.faster.push_back({rank, site, factor, max_ns});
    for (const auto& [rank, site, own] : even) change.even.push_back({rank, site, own});
  }
  const nb::gil_scoped_release unlocked;
  return unwrap(reader::replay(run, changes));
}

void define_rows(nb::module_& module) {
  using reader::Exchange, reader::ReplayedWorld;
  using Cell = std::tuple<std::int32_t, std::int32_t, std::uint64_t, std::uint64_t>;
  Fields<Exchange>(
      module, "Exchange",
      "What the ranks of a world sent to one another, by groups of `group` ranks with neighbouring numbers. "
      "`cells`: from and to which group, messages, bytes; sorted. `messages` were sent and received, "
      "`elsewhere` sent to ranks that are not known, or of other worlds, `between` from a rank to another of "
      "the world. The rank `busiest` has the most of these, as sender or receiver; -1: there are none.")
      .members<&Exchange::world, &Exchange::size, &Exchange::group>()
      .value("cells",
             [](const Exchange& of) {
               std::vector<Cell> cells;
               for (const Exchange::Cell& cell : of.cells)
                 cells.emplace_back(cell.from, cell.to, cell.messages, cell.bytes);
               return cells;
             })
      .members<&Exchange::elsewhere, &Exchange::messages, &Exchange::between, &Exchange::busiest,
               &Exchange::busiest_messages>();
  Fields<ReplayedWorld>(
      module, "ReplayedWorld",
      "A world on an ideal network. If there is an `obstacle` to its replay, the rest is 0. `useful_ns` "
      "and `unknown_ns` are of the rank with the most; the latter in calls that were kept as they are.")
      .members<&ReplayedWorld::world>()
      .unless("obstacle", "", &ReplayedWorld::obstacle)
      .members<&ReplayedWorld::runtime_ns, &ReplayedWorld::ideal_ns, &ReplayedWorld::useful_ns,
               &ReplayedWorld::unknown_ns, &ReplayedWorld::without_ns, &ReplayedWorld::without_by_part_ns>();
}

}  // namespace

nb::class_<PyRun> define_run(nb::module_& module) {
  define_rows(module);
  auto run = nb::class_<PyRun>(module, "Run", "A run directory, and the segments of it that are not yet collected.");
  const auto init = [](PyRun* self, const std::filesystem::path& run_dir, const std::filesystem::path& segment_dir,
                       const std::string& run_id, const std::string& member, bool is_going_on,
                       const std::string& run_key, const std::vector<std::string>& answers) {
    new (self) PyRun({run_dir, segment_dir, run_id, member, is_going_on, run_key, answers});
  };
  run.def("__init__", init, "run_dir"_a, "segment_dir"_a = "", "run_id"_a = "", "member"_a = "",
          "is_going_on"_a = false, "run_key"_a = "", "answers"_a = std::vector<std::string>{});
  module.def(
      "empty_run", [] { return PyRun(reader::Run::empty()); }, "A run in which nothing was recorded.");
  run.def("exchanges", rows(exchanges), "max_groups"_a);
  run.def("functions", rows(functions), "Names of the functions that the run may have calls of.");
  run.def("event_names", rows(event_names), "Names of the program's own events.");
  run.def(
      "replay", rows(replayed_worlds), "changes"_a = std::vector<Change>{},
      "How long each world would have taken on an ideal network, and with each of the changes (`without_ns`); reads "
      "the whole trace. A change is of a world: it multiplies the time of ranks outside MPI before the calls of a site "
      "(rank, site, factor), and in the calls of the sites at its end nobody waits.");
  run.def("warnings", &PyRun::warnings);
  return run;
}

}  // namespace tare::bindings
