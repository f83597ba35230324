#include "bindings/retiming.h"

#include "bindings/convert.h"
#include "bindings/text.h"
#include "reader/retiming/clock_correction.h"
#include "reader/retiming/compensation.h"

namespace tare::bindings {
namespace {

// What the reader finds, without the interpreter lock.
template <typename Found>
Found found(reader::Result<Found> (*find)(reader::Run&), reader::Run& run) {
  const nb::gil_scoped_release unlocked;
  return unwrap(find(run));
}

nb::list rows_of(const std::vector<reader::Violations>& violations) {
  nb::list rows;
  for (const reader::Violations& of : violations) {
    nb::dict row;
    row["world"] = of.world;
    row["rank"] = of.rank;
    row["other_rank"] = of.other_rank;
    row["messages"] = of.messages;
    row["collectives"] = of.collectives;
    row["most_ns"] = of.most_ns;
    rows.append(row);
  }
  return rows;
}

nb::list lines_of(const std::vector<std::string>& warnings) {
  nb::list lines;
  for (const std::string& line : warnings) lines.append(text(line));
  return lines;
}

}  // namespace

nb::list clock_violations(reader::Run& run) { return rows_of(found(reader::clock_violations, run)); }

nb::dict correct_clocks(reader::Run& run) {
  const reader::ClockCorrection of = found(reader::correct_clocks, run);
  nb::dict row;
  row["violations"] = rows_of(of.violations);
  row["max_moved_ns"] = of.max_moved_ns;
  row["rounds"] = of.rounds;
  row["remaining"] = of.remaining;
  row["warnings"] = lines_of(of.warnings);
  return row;
}

nb::dict compensate(reader::Run& run) {
  const reader::Compensation of = found(reader::compensate, run);
  nb::dict row;
  row["flush_ns"] = of.flush_ns;
  row["wrapper_ns"] = of.wrapper_ns;
  row["earlier_ns"] = of.earlier_ns;
  row["warnings"] = lines_of(of.warnings);
  return row;
}

}  // namespace tare::bindings
