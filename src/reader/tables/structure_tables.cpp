#include "reader/tables/structure_tables.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "reader/structure/iterations.h"
#include "reader/tables/site_text.h"
#include "reader/tables/stored_rows.h"

namespace tare::reader {
namespace {

using namespace row_columns;

struct PhaseRow {
  DetectedPhase phase;
  std::int32_t name, function;  // numbers of texts
};

struct IterationRow {
  const Loop* loop;
  std::int32_t phase, function;  // numbers of texts
  std::uint32_t number;
  Iteration iteration;
  const SlowIteration* slow;  // nullptr: it is not
  std::int32_t cause_function;
};

// The columns site, caller, file and line of a line.
template <class Row, class Site>
void add_line(std::vector<RowColumn<Row>>& columns, const std::shared_ptr<const PlaceTexts>& places,
              const std::string& prefix, Site site_of) {
  auto more = places->columns<Row>(
      [places, site_of](const Row& row) -> const PlaceNumbers& { return places->of(site_of(row)); });
  columns.push_back(index<Row>((prefix + "site").c_str(), site_of));
  for (const std::size_t at : {std::size_t{2}, std::size_t{0}, std::size_t{1}}) {  // caller, file, line
    more[at].field.name.insert(0, prefix);
    columns.push_back(std::move(more[at]));
  }
}

}  // namespace

Result<TableStream> detected_phase_table(Run& run) {
  using Row = PhaseRow;
  auto structure = run_structure(run);
  if (!structure) return structure.failure();
  arrow::Dictionary names, functions;
  const auto places = std::make_shared<const PlaceTexts>(run, false);
  std::vector<Row> rows;
  for (const DetectedPhase& phase : structure->phases)
    rows.push_back({phase, names.number_of(phase_name(phase.kind)),
                    functions.number_of(run.functions().names()[phase.line.function])});
  std::vector<RowColumn<Row>> columns{
      int32<Row>("world", [](const Row& row) { return row.phase.world; }),
      int32<Row>("number", [](const Row& row) { return static_cast<std::int32_t>(row.phase.number); }),
      text_column("phase", names, &Row::name),
      int64<Row>("start_ns", [](const Row& row) { return row.phase.start_ns; }),
      int64<Row>("duration_ns", [](const Row& row) { return difference(row.phase.end_ns, row.phase.start_ns); }),
      float64<Row>("mpi_share", [](const Row& row) { return row.phase.mpi_share; }),
      text_column("function", functions, &Row::function)};
  add_line<Row>(columns, places, "", [](const Row& row) { return row.phase.line.site; });
  columns.push_back(boolean<Row>("outside_calls", [](const Row& row) { return row.phase.is_before; }));
  columns.push_back(float64<Row>("line_share", [](const Row& row) { return row.phase.line_share; }));
  return stream_of(std::move(columns), std::move(rows));
}

Result<TableStream> iteration_table(Run& run) {
  using Row = IterationRow;
  auto found = run_structure(run);
  if (!found) return found.failure();
  const auto structure = std::make_shared<const RunStructure>(std::move(*found));
  arrow::Dictionary names, functions;
  const auto places = std::make_shared<const PlaceTexts>(run, false);
  const auto function = [&](const CalledLine& line) {
    return functions.number_of(run.functions().names()[line.function]);
  };
  std::vector<Row> rows;
  for (const Loop& loop : structure->loops) {
    const auto of = std::find_if(structure->phases.begin(), structure->phases.end(), [&](const DetectedPhase& phase) {
      return phase.world == loop.world && phase.number == loop.phase;
    });
    Row row{&loop, names.number_of(phase_name(of->kind)), function(loop.line), 0, {}, nullptr, absent};
    auto slow = loop.slow.begin();
    const auto add = [&](const Iteration& iteration) {
      row.iteration = iteration;
      row.slow = slow != loop.slow.end() && slow->number == row.number ? &*slow++ : nullptr;
      row.cause_function = row.slow == nullptr ? absent : function(row.slow->cause);
      rows.push_back(row);
    };
    for (const Iteration& iteration : loop.listed) {
      add(iteration);
      ++row.number;
    }
    while (slow != loop.slow.end()) {
      row.number = slow->number;
      add(slow->iteration);
    }
  }
  const auto when_slow = [structure](std::int64_t (*of)(const Row&)) {
    return [structure, of](const Row& row) { return row.slow == nullptr ? INT64_MIN : of(row); };
  };
  std::vector<RowColumn<Row>> columns{
      int32<Row>("world", [structure](const Row& row) { return row.loop->world; }),
      int32<Row>("rank", [](const Row& row) { return row.loop->rank; }),
      int32<Row>("number", [](const Row& row) { return static_cast<std::int32_t>(row.loop->phase); }),
      text_column("phase", names, &Row::phase),
      int32<Row>("iteration", [](const Row& row) { return static_cast<std::int32_t>(row.number); }),
      int64<Row>("start_ns", [](const Row& row) { return row.iteration.start_ns; }),
      int64<Row>("duration_ns", [](const Row& row) { return row.iteration.duration_ns; }),
      int64<Row>("mpi_ns", [](const Row& row) { return row.iteration.mpi_ns; }),
      int32<Row>("calls", [](const Row& row) { return static_cast<std::int32_t>(row.iteration.calls); }),
      text_column("function", functions, &Row::function)};
  add_line<Row>(columns, places, "", [](const Row& row) { return row.loop->line.site; });
  columns.push_back(int64<Row>("beyond_ns", when_slow([](const Row& row) {
                                 return difference(row.iteration.duration_ns, row.loop->median_ns);
                               })));
  columns.push_back(
      index<Row>("cause_rank", [](const Row& row) { return row.slow == nullptr ? -1 : row.slow->cause_rank; }));
  columns.push_back(text_column("cause_function", functions, &Row::cause_function));
  add_line<Row>(columns, places, "cause_",
                [](const Row& row) { return row.slow == nullptr ? -1 : row.slow->cause.site; });
  columns.push_back(
      boolean<Row>("cause_in_call", [](const Row& row) { return row.slow != nullptr && row.slow->is_in_call; }));
  columns.push_back(int64<Row>("cause_ns", when_slow([](const Row& row) { return row.slow->cause_ns; })));
  return stream_of(std::move(columns), std::move(rows));
}

}  // namespace tare::reader
