#include "bindings/waits.h"

#include "bindings/convert.h"
#include "bindings/text.h"
#include "reader/waits/wait_report.h"

namespace tare::bindings {
namespace {

const char* name_of(reader::WaitKind kind) { return reader::wait_kind_names[static_cast<std::size_t>(kind)]; }

nb::dict row_of_rank(int world, int rank) {
  nb::dict row;
  row["world"] = world;
  row["rank"] = rank;
  return row;
}

}  // namespace

nb::dict wait_report(reader::Run& run) {
  const auto report = [&] {
    const nb::gil_scoped_release unlocked;
    return unwrap(reader::wait_report(run));
  }();
  const std::vector<nb::object> functions = function_texts(run.functions());
  nb::list waits, awaited, causes, wrong_order, outside, path, violations, warnings;
  for (const reader::WaitSum& of : report.waits) {
    nb::dict row = row_of_rank(of.world, of.rank);
    row["kind"] = name_of(of.kind);
    row["function"] = functions[of.function];
    row["site"] = of.site;
    row["waits"] = of.waits;
    row["wait_ns"] = of.wait_ns;
    row["longest_ns"] = of.longest_ns;
    waits.append(row);
  }
  for (const reader::AwaitedSum& of : report.awaited) {
    nb::dict row = row_of_rank(of.world, of.rank);
    row["kind"] = name_of(of.kind);
    row["function"] = functions[of.function];
    row["site"] = of.site;
    row["wait_ns"] = of.wait_ns;
    awaited.append(row);
  }
  for (const reader::RootSum& of : report.causes) {
    nb::dict row;
    row["world"] = of.world;
    row["kind"] = name_of(of.kind);
    row["function"] = functions[of.function];
    row["site"] = of.site;
    row["cause_rank"] = of.cause_rank;
    row["cause_site"] = of.activity.site;
    row["cause_in_call"] = of.activity.in_call;
    row["waits"] = of.waits;
    row["wait_ns"] = of.wait_ns;
    row["longest_ns"] = of.longest_ns;
    row["cause_function"] = functions[of.cause_function];
    nb::list by_time, waits_by_time;
    for (const double part : of.by_time) by_time.append(part);
    for (const std::uint64_t part : of.waits_by_time) waits_by_time.append(part);
    row["by_time"] = by_time;
    row["waits_by_time"] = waits_by_time;
    nb::dict by_rank;
    for (std::size_t rank = 0; rank < of.by_rank.size(); ++rank)
      if (of.by_rank[rank] > 0) by_rank[nb::int_(rank)] = of.by_rank[rank];
    row["by_rank"] = by_rank;
    causes.append(row);
  }
  for (const reader::WrongOrder& of : report.wrong_order) {
    nb::dict row = row_of_rank(of.world, of.rank);
    row["function"] = functions[of.function];
    row["site"] = of.site;
    row["waits"] = of.waits;
    row["time_ns"] = of.time_ns;
    wrong_order.append(row);
  }
  for (const reader::OutsideSum& of : report.outside) {
    nb::dict row = row_of_rank(of.world, of.rank);
    row["function"] = functions[of.function];
    row["site"] = of.site;
    row["time_ns"] = of.time_ns;
    outside.append(row);
  }
  for (const reader::PathSum& of : report.critical_path) {
    nb::dict row = row_of_rank(of.world, of.rank);
    row["function"] = functions[of.function];
    row["site"] = of.activity.site;
    row["in_call"] = of.activity.in_call;
    row["time_ns"] = of.time_ns;
    path.append(row);
  }
  for (const reader::ClockViolation& of : report.violations) {
    nb::dict row;
    row["world"] = of.world;
    row["source"] = of.source;
    row["destination"] = of.destination;
    row["messages"] = of.messages;
    row["most_ns"] = of.most_ns;
    violations.append(row);
  }
  for (const std::string& line : report.warnings) warnings.append(text(line));
  nb::dict result;
  result["waits"] = waits;
  result["awaited"] = awaited;
  result["causes"] = causes;
  result["wrong_order"] = wrong_order;
  result["outside"] = outside;
  result["critical_path"] = path;
  result["clock_violations"] = violations;
  result["warnings"] = warnings;
  return result;
}

}  // namespace tare::bindings
