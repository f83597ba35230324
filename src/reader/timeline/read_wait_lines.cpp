#include "reader/timeline/read_wait_lines.h"

#include <algorithm>

#include "reader/timeline/row_index.h"
#include "reader/waits/critical_path.h"
#include "reader/waits/read_waits.h"

namespace tare::reader {

Result<WaitLines> read_wait_lines(Run& run, const Timeline& timeline, const std::atomic<bool>& stop) {
  const RowIndex rows(timeline);
  WaitLines made;
  const auto add = [&](const WaitState& wait) {
    const auto row = rows.find(wait.world, wait.rank, wait.call.thread);
    const auto cause = rows.find(wait.world, wait.cause_rank, wait.cause.thread);
    if (!row || !cause) return;
    made.of_row[*row].push_back({*row, wait.call.enter_ns, wait.wait_ns, *cause, wait.cause.enter_ns, wait.call.site,
                                 wait.call.function, wait.kind});
  };
  const auto begin = [&] {
    made.of_row.assign(timeline.rows().size(), {});
    return add;
  };
  const auto states = read_waits(run, begin, stop);
  if (!states) return states.failure();
  for (auto& of_row : made.of_row)
    std::sort(of_row.begin(), of_row.end(),
              [](const WaitLine& a, const WaitLine& b) { return a.start_ns < b.start_ns; });
  for (const PathPiece& piece : critical_path(run, states->threads())) {
    const TracedThread& thread = states->threads()[piece.thread];
    if (const auto row = rows.find(thread.world, thread.rank, thread.thread))
      made.path.push_back({*row, piece.begin_ns, piece.end_ns});
  }
  return made;
}

}  // namespace tare::reader
