#include "bindings/totals.h"

#include <cmath>
#include <optional>
#include <vector>

#include "bindings/convert.h"
#include "bindings/sums.h"
#include "reader/profile/function_totals.h"
#include "reader/profile/site_totals.h"

namespace tare::bindings {
namespace {

nb::object rounded(const std::optional<double>& number) {
  return number ? nb::object(nb::int_(std::llround(*number))) : nb::object(nb::none());
}

// The fields that totals by function and by call site have in common.
template <class Total>
nb::dict total_row(const Total& total, const std::vector<nb::object>& functions) {
  nb::dict row;
  row["world"] = total.world;
  row["rank"] = total.rank;
  row["function"] = functions[total.function];
  row["measured_calls"] = total.measured_calls;
  row["time_ns"] = rounded(total.time_ns);
  row["time_error_ns"] = rounded(total.time_error_ns);
  row["bytes"] = rounded(total.bytes);
  row["bytes_error"] = rounded(total.bytes_error);
  return row;
}

}  // namespace

nb::list function_total_rows(reader::Run& run) {
  const std::vector<nb::object> functions = function_texts(run.functions());
  nb::list rows;
  for (const reader::FunctionTotal& total :
       reader::function_totals(run.processes(), run.profile_sums(reader::by_rank_and_function))) {
    nb::dict row = total_row(total, functions);
    row["calls"] = total.calls;
    rows.append(row);
  }
  return rows;
}

nb::list site_total_rows(reader::Run& run, const nb::dict& query) {
  const reader::SumsQuery asked = sums_query(query);
  const auto totals = [&] {
    const nb::gil_scoped_release unlocked;
    return run.site_totals(asked);
  }();
  const std::vector<nb::object> functions = function_texts(run.functions());
  nb::list rows;
  for (const reader::SiteTotal& total : totals) {
    nb::dict row = total_row(total, functions);
    row["site"] = total.site;
    row["calls"] = rounded(total.calls);
    row["calls_error"] = rounded(total.calls_error);
    rows.append(row);
  }
  return rows;
}

}  // namespace tare::bindings
