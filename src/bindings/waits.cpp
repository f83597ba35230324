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
  nb::list waits, causes, delays, path, violations, warnings;
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
  for (const reader::WaitCauseSum& of : report.causes) {
    nb::dict row;
    row["world"] = of.world;
    row["kind"] = name_of(of.kind);
    row["function"] = functions[of.function];
    row["site"] = of.site;
    row["cause_rank"] = of.cause_rank;
    row["cause_function"] = functions[of.cause_function];
    row["cause_site"] = of.cause_site;
    row["delay_site"] = of.delay.site;
    row["delay_in_call"] = of.delay.in_call;
    row["waits"] = of.waits;
    row["wait_ns"] = of.wait_ns;
    row["delay_ns"] = of.delay_ns;
    row["passed_on_ns"] = of.passed_on_ns;
    causes.append(row);
  }
  for (const reader::DelaySum& of : report.delays) {
    nb::dict row = row_of_rank(of.world, of.rank);
    row["kind"] = name_of(of.kind);
    row["site"] = of.activity.site;
    row["in_call"] = of.activity.in_call;
    row["waits"] = of.waits;
    row["cost_ns"] = reader::rounded_ns(of.cost_ns);
    delays.append(row);
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
  result["causes"] = causes;
  result["delays"] = delays;
  result["critical_path"] = path;
  result["clock_violations"] = violations;
  result["warnings"] = warnings;
  return result;
}

}  // namespace tare::bindings
