// The tables of detected phases and iterations.
#include <algorithm>

#include "reader/events/row_table.h"
#include "reader/structure/iterations.h"

namespace tare::reader {

Result<TableStream> detected_phase_table(Run& run) {
  const auto structure = run_structure(run);
  if (!structure) return structure.failure();
  RunTexts texts(run, SiteTexts::lines);
  std::vector<rows::DetectedPhases> rows;
  for (const DetectedPhase& phase : structure->phases)
    rows.push_back({.world = phase.world,
                    .number = static_cast<std::int32_t>(phase.number),
                    .phase = texts.of("phase").number_of(phase_name(phase.kind)),
                    .start_ns = phase.start_ns,
                    .duration_ns = difference(phase.end_ns, phase.start_ns),
                    .mpi_share = phase.mpi_share,
                    .function = texts.function(phase.line.function),
                    .line = texts.line(phase.line.site),
                    .outside_calls = phase.is_before,
                    .line_share = phase.line_share});
  return stored_table(std::move(rows), texts);
}

Result<TableStream> iteration_table(Run& run) {
  const auto structure = run_structure(run);
  if (!structure) return structure.failure();
  RunTexts texts(run, SiteTexts::lines);
  std::vector<rows::Iterations> rows;
  for (const Loop& loop : structure->loops) {
    const auto of = std::find_if(structure->phases.begin(), structure->phases.end(), [&](const DetectedPhase& phase) {
      return phase.world == loop.world && phase.number == loop.phase;
    });
    auto slow = loop.slow.begin();
    const auto add = [&](std::uint32_t number, const Iteration& iteration) {
      rows::Iterations& row =
          rows.emplace_back(rows::Iterations{.world_rank = {loop.world, loop.rank},
                                             .number = static_cast<std::int32_t>(loop.phase),
                                             .phase = texts.of("phase").number_of(phase_name(of->kind)),
                                             .iteration = static_cast<std::int32_t>(number),
                                             .start_ns = iteration.start_ns,
                                             .duration_ns = iteration.duration_ns,
                                             .mpi_ns = iteration.mpi_ns,
                                             .calls = static_cast<std::int32_t>(iteration.calls),
                                             .function = texts.function(loop.line.function),
                                             .line = texts.line(loop.line.site),
                                             .beyond_ns = std::nullopt,
                                             .cause_rank = std::nullopt,
                                             .cause_call = {},
                                             .cause_in_call = false,
                                             .cause_ns = std::nullopt});
      if (slow == loop.slow.end() || slow->number != number) return;
      row.beyond_ns = difference(iteration.duration_ns, loop.median_ns);
      row.cause_rank = if_known(slow->cause_rank);
      row.cause_call = texts.call(slow->cause.function, slow->cause.site);
      row.cause_in_call = slow->is_in_call;
      row.cause_ns = slow->cause_ns;
      ++slow;
    };
    std::uint32_t number = 0;
    for (const Iteration& iteration : loop.listed) add(number++, iteration);
    while (slow != loop.slow.end()) add(slow->number, slow->iteration);
  }
  return stored_table(std::move(rows), texts);
}

}  // namespace tare::reader
