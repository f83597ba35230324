#include "bindings/run.h"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "bindings/convert.h"
#include "bindings/current_calls.h"
#include "bindings/definitions.h"
#include "bindings/processes.h"
#include "bindings/retiming.h"
#include "bindings/samples.h"
#include "bindings/structure.h"
#include "bindings/text.h"
#include "bindings/waits.h"
#include "reader/replay/replay.h"

namespace tare::bindings {
using namespace nb::literals;

namespace {

// A method of Python's Run that makes rows of the reader's.
template <typename Rows, typename Of, typename... Arguments>
auto rows(Rows (*make)(Of&, Arguments...)) {
  return [make](PyRun& run, Arguments... arguments) { return make(run.run(), std::forward<Arguments>(arguments)...); };
}

nb::list functions(const reader::Run& run) {
  nb::list names;
  for (const nb::object& name : function_texts(run.functions())) names.append(name);
  return names;
}

nb::list event_names(const reader::Run& run) {
  nb::list names;
  for (const reader::EventType& type : run.event_types()) names.append(text(type.name));
  return names;
}

nb::list exchange_rows(reader::Run& run, std::int32_t max_groups) {
  constexpr std::int32_t max = 1024;  // the square of this is allocated
  if (max_groups < 1 || max_groups > max) throw nb::value_error("an exchange is of 1 to 1024 groups");
  const auto found = [&] {
    const nb::gil_scoped_release unlocked;
    return run.answer({.exchanges = {max_groups}}).exchanges.front();
  };
  nb::list rows;
  for (const reader::Exchange& exchange : found()) {
    nb::list cells;
    for (const reader::Exchange::Cell& cell : exchange.cells)
      cells.append(nb::make_tuple(cell.from, cell.to, cell.messages, cell.bytes));
    nb::dict row;
    row["world"] = exchange.world;
    row["size"] = exchange.size;
    row["group"] = exchange.group;
    row["cells"] = cells;
    row["elsewhere"] = exchange.elsewhere;
    row["messages"] = exchange.messages;
    row["between"] = exchange.between;
    row["busiest"] = exchange.busiest;
    row["busiest_messages"] = exchange.busiest_messages;
    rows.append(row);
  }
  return rows;
}

nb::list replayed_worlds(const reader::Run& run) {
  const auto worlds = [&] {
    const nb::gil_scoped_release unlocked;
    return unwrap(reader::replay(run));
  }();
  nb::list rows;
  for (const reader::ReplayedWorld& world : worlds) {
    nb::dict row;
    row["world"] = world.world;
    row["obstacle"] = text_or_none(world.obstacle);
    row["runtime_ns"] = world.runtime_ns;
    row["ideal_ns"] = world.ideal_ns;
    row["useful_ns"] = world.useful_ns;
    row["unknown_ns"] = world.unknown_ns;
    rows.append(row);
  }
  return rows;
}

}  // namespace

nb::class_<PyRun> define_run(nb::module_& module) {
  auto run = nb::class_<PyRun>(module, "Run", "A run directory, and the segments of it that are not yet collected.");
  const auto init = [](PyRun* self, const std::filesystem::path& run_dir, const std::filesystem::path& segment_dir,
                       const std::string& run_id, const std::string& member, bool is_going_on,
                       const std::string& run_key) {
    new (self) PyRun({run_dir, segment_dir, run_id, member, is_going_on, run_key});
  };
  run.def("__init__", init, "run_dir"_a, "segment_dir"_a = "", "run_id"_a = "", "member"_a = "",
          "is_going_on"_a = false, "run_key"_a = "");
  module.def(
      "empty_run", [] { return PyRun(reader::Run::empty()); }, "A run in which nothing was recorded.");
  run.def("processes", rows(process_rows));
  run.def("process_count", [](PyRun& of) { return of.run().processes().size(); });
  run.def("total_cost", rows(total_cost), "world"_a = nb::none());
  run.def("total_trace", rows(total_trace), "world"_a = nb::none());
  run.def("spells", rows(spell_rows));
  run.def("exchanges", rows(exchange_rows), "max_groups"_a);
  run.def("functions", rows(functions));
  run.def("event_names", rows(event_names));
  run.def("sites", rows(site_rows));
  run.def("communicators", rows(communicator_rows));
  run.def("scopes", rows(scope_rows));
  run.def("samples", rows(sample_rows));
  run.def("sample_summaries", rows(sample_summaries));
  run.def("current_calls", rows(current_call_rows));
  run.def("replay", rows(replayed_worlds));
  run.def("wait_report", [](PyRun& of) { return wait_report(of.run()); });
  run.def("structure", [](PyRun& of) { return structure(of.run()); });
  run.def("clock_violations", rows(clock_violations));
  run.def("correct_clocks", [](PyRun& of) { return correct_clocks(of.run()); });
  run.def("compensate", [](PyRun& of) { return compensate(of.run()); });
  run.def("warnings", &PyRun::warnings);
  return run;
}

}  // namespace tare::bindings
