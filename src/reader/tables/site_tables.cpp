#include "reader/tables/site_tables.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "reader/run/sample_rows.h"
#include "reader/tables/site_text.h"
#include "reader/tables/stored_rows.h"

namespace tare::reader {
namespace {

using namespace row_columns;

constexpr double not_known = std::numeric_limits<double>::lowest();  // shown as null

template <class Row>
void append(std::vector<RowColumn<Row>>& columns, std::vector<RowColumn<Row>> more) {
  for (RowColumn<Row>& column : more) columns.push_back(std::move(column));
}

struct SiteTotalRow {
  SiteTotal total;
  std::int32_t function;  // number of its text
};

// A bin of the histogram of a class that is not empty.
struct LatencyBin : SampledClass {
  std::int64_t from_ns, to_ns, bin_count;
};

// The columns of the place on one side of a message.
template <class Row>
std::vector<RowColumn<Row>> side_columns(const std::shared_ptr<const PlaceTexts>& places, const std::string& side,
                                         std::int32_t SampledClass::*site) {
  auto columns =
      places->columns<Row>([places, site](const Row& row) -> const PlaceNumbers& { return places->of(row.*site); });
  columns.resize(3);  // file, line and caller
  for (RowColumn<Row>& column : columns) column.field.name.insert(0, side);
  return columns;
}

// The columns that tell the classes of sampled messages apart.
template <class Row>
std::vector<RowColumn<Row>> class_columns(const std::shared_ptr<const PlaceTexts>& places) {
  std::vector<RowColumn<Row>> columns{int32<Row>("world", [](const Row& row) { return row.world; }),
                                      index<Row>("source", [](const Row& row) { return row.found.source; }),
                                      int32<Row>("destination", [](const Row& row) { return row.destination; })};
  append(columns, side_columns<Row>(places, "send_", &SampledClass::send_site));
  append(columns, side_columns<Row>(places, "receive_", &SampledClass::receive_site));
  append<Row>(columns, {index<Row>("send_site", [](const Row& row) { return row.send_site; }),
                        index<Row>("receive_site", [](const Row& row) { return row.receive_site; }),
                        int64<Row>("bytes", [](const Row& row) { return static_cast<std::int64_t>(row.found.bytes); }),
                        boolean<Row>("between_nodes",
                                     [](const Row& row) { return (row.found.flags & format::between_nodes) != 0; })});
  return columns;
}

}  // namespace

Result<TableStream> callsite_table(Run& run) {
  using Row = std::int32_t;
  const auto places = std::make_shared<const PlaceTexts>(run, true);
  const auto place = [places](const Row& site) -> const PlaceNumbers& { return places->of(site); };
  std::vector<Row> rows(run.sites().size());
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<Row>(i);
  std::vector<RowColumn<Row>> columns{int32<Row>("site", [](const Row& site) { return site; })};
  append(columns, places->columns<Row>(place));
  columns.push_back(places->path_column<Row>(place));
  return stream_of(std::move(columns), std::move(rows));
}

Result<TableStream> site_total_table(Run& run) {
  using Row = SiteTotalRow;
  arrow::Dictionary functions;
  const auto places = std::make_shared<const PlaceTexts>(run, true);
  const auto place = [places](const Row& row) -> const PlaceNumbers& { return places->of(row.total.site); };
  std::vector<Row> rows;
  for (const SiteTotal& total : run.site_totals({.rank = true}))
    rows.push_back({total, functions.number_of(run.functions().names()[total.function])});
  // INT64_MIN, which tables show as null, for nothing.
  const auto rounded = [](const char* name, std::optional<double> (*of)(const SiteTotal&)) {
    return int64<Row>(name, [of](const Row& row) {
      const std::optional<double> number = of(row.total);
      return number ? static_cast<std::int64_t>(std::llround(*number)) : INT64_MIN;
    });
  };
  std::vector<RowColumn<Row>> columns{int32<Row>("world", [](const Row& row) { return row.total.world; }),
                                      int32<Row>("rank", [](const Row& row) { return row.total.rank; }),
                                      text_column("function", functions, &Row::function),
                                      index<Row>("site", [](const Row& row) { return row.total.site; })};
  append(columns, places->columns<Row>(place));
  columns.push_back(places->path_column<Row>(place));
  append<Row>(columns, {rounded("calls", [](const SiteTotal& total) { return std::optional(total.calls); }),
                        rounded("calls_error", [](const SiteTotal& total) { return total.calls_error; }),
                        int64<Row>("measured_calls",
                                   [](const Row& row) { return static_cast<std::int64_t>(row.total.measured_calls); }),
                        rounded("time_ns",
                                [](const SiteTotal& total) {
                                  // The time is not known if none of the calls was timed.
                                  return total.measured_calls == 0 ? std::nullopt : std::optional(total.time_ns);
                                }),
                        rounded("time_error_ns", [](const SiteTotal& total) { return total.time_error_ns; }),
                        rounded("bytes", [](const SiteTotal& total) { return std::optional(total.bytes); }),
                        rounded("bytes_error", [](const SiteTotal& total) { return total.bytes_error; })});
  return stream_of(std::move(columns), std::move(rows));
}

Result<TableStream> sample_table(Run& run) {
  using Row = SampledClass;
  const auto places = std::make_shared<const PlaceTexts>(run, false);
  const auto count = [](const char* name, auto of) {
    return int64<Row>(name, [of](const Row& row) { return static_cast<std::int64_t>(of(row.found)); });
  };
  using Class = format::SampleClass;
  std::vector<RowColumn<Row>> columns = class_columns<Row>(places);
  append<Row>(columns, {count("count", [](const Class& c) { return c.count; }),
                        count("unexpected", [](const Class& c) { return c.unexpected; }),
                        nullable<Row, double>(
                            {"weight", arrow::Type::float64}, not_known,
                            [](const Row& row) { return row.is_weight_known() ? row.found.weight : not_known; }),
                        count("latency_ns", [](const Class& c) { return c.latency; }),
                        count("min_ns", [](const Class& c) { return c.latency_min; }),
                        count("max_ns", [](const Class& c) { return c.latency_max; }),
                        count("late_sender_ns", [](const Class& c) { return c.late_sender; }),
                        count("unposted_ns", [](const Class& c) { return c.unposted; }),
                        count("unwaited_ns", [](const Class& c) { return c.unwaited; }),
                        count("transfer_ns", [](const Class& c) { return c.transfer; }),
                        count("uncertainty_ns", [](const Class& c) { return c.uncertainty_ns; })});
  return stream_of(std::move(columns), sampled_classes(run));
}

Result<TableStream> sample_histogram_table(Run& run) {
  using Row = LatencyBin;
  std::vector<RowColumn<Row>> columns = class_columns<Row>(std::make_shared<const PlaceTexts>(run, false));
  append<Row>(columns, {int64<Row>("from_ns", [](const Row& row) { return row.from_ns; }),
                        int64<Row>("to_ns", [](const Row& row) { return row.to_ns; }),
                        int64<Row>("count", [](const Row& row) { return row.bin_count; })});
  const auto end_of = [](unsigned bin) { return std::int64_t{1} << (format::first_latency_width + bin); };
  std::vector<Row> rows;
  for (const SampledClass& sampled : sampled_classes(run)) {
    if ((sampled.found.flags & format::histogram_kept) == 0) continue;
    for (unsigned bin = 0; bin < format::latency_bins; ++bin)
      if (const std::uint32_t count = sampled.found.histogram[bin]; count != 0)
        rows.push_back({sampled, bin == 0 ? 0 : end_of(bin - 1), end_of(bin), count});
  }
  return stream_of(std::move(columns), std::move(rows));
}

}  // namespace tare::reader
