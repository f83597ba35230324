#include "reader/events/traced_time.h"

#include <algorithm>

#include "reader/events/event_stream.h"

namespace tare::reader {

std::vector<TracedTime> traced_times(const Run& run) {
  std::vector<TracedTime> times;
  std::vector<bool> is_cut;  // its first call may be missing
  for (const Process& process : run.processes()) {
    const format::ProcessRecord& r = process.record;
    times.push_back({process.clock.unix_ns(r.init_leave != 0 ? r.init_leave : r.attach),
                     process.clock.unix_ns(r.finalize_enter != 0 ? r.finalize_enter : process.end)});
    is_cut.push_back((r.flags & format::overwrites) != 0 && r.rank >= 0);
  }
  auto left = std::count(is_cut.begin(), is_cut.end(), true);
  if (left == 0) return times;
  auto events = EventStream::open(run, {});
  if (!events) return times;
  for (auto rows = events->next(); left > 0 && !rows.empty(); rows = events->next())
    for (const EventRow& row : rows) {
      if (row.kind != EventKind::call || !is_cut[row.process]) continue;
      times[row.process].begin_ns = std::max(times[row.process].begin_ns, row.start_ns);
      is_cut[row.process] = false;
      --left;
    }
  return times;
}

}  // namespace tare::reader
