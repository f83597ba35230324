#include "reader/waits/wait_report.h"

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "reader/matching/call_columns.h"
#include "reader/time_arithmetic.h"

namespace tare::reader {
namespace {

class CauseSums {
 public:
  void add(const WaitState& wait) {
    const SiteActivity delay = wait.longest_delay_ns > 0 ? wait.delay : SiteActivity{};
    WaitCauseSum& of = sums_[{wait.world, wait.kind, wait.call.function, wait.call.site, wait.cause_rank,
                              wait.cause.function, wait.cause.site, delay.site, delay.in_call}];
    of = {wait.world,
          wait.cause_rank,
          wait.kind,
          wait.call.function,
          wait.cause.function,
          wait.call.site,
          wait.cause.site,
          delay,
          of.waits + 1,
          sum(of.wait_ns, wait.wait_ns),
          sum(of.delay_ns, wait.delay_ns),
          sum(of.passed_on_ns, wait.passed_on_ns)};
  }

  std::vector<WaitCauseSum> sorted() const {
    std::vector<WaitCauseSum> all;
    for (const auto& [key, of] : sums_) all.push_back(of);
    std::stable_sort(all.begin(), all.end(),
                     [](const WaitCauseSum& a, const WaitCauseSum& b) { return a.wait_ns > b.wait_ns; });
    return all;
  }

 private:
  std::map<std::tuple<int, WaitKind, std::uint16_t, int, int, std::uint16_t, int, int, bool>, WaitCauseSum> sums_;
};

}  // namespace

Result<WaitReport> wait_report(Run& run) {
  auto states = WaitStates::open(run);
  if (!states) return states.failure();
  std::map<std::tuple<int, int, WaitKind, std::uint16_t, std::int32_t>, WaitSum> sums;
  CauseSums causes;
  for (auto some = states->next(); !some.empty(); some = states->next())
    for (const WaitState& wait : some) {
      causes.add(wait);
      WaitSum& of = sums[{wait.world, wait.rank, wait.kind, wait.call.function, wait.call.site}];
      of = {wait.world,
            wait.rank,
            wait.kind,
            wait.call.function,
            wait.call.site,
            of.waits + 1,
            sum(of.wait_ns, wait.wait_ns),
            std::max(of.longest_ns, wait.wait_ns)};
    }
  WaitReport report;
  for (const auto& [key, of] : sums) report.waits.push_back(of);
  std::sort(report.waits.begin(), report.waits.end(),
            [](const WaitSum& a, const WaitSum& b) { return a.wait_ns > b.wait_ns; });
  report.causes = causes.sorted();
  report.delays = states->delays();
  report.violations = states->violations();
  report.warnings = states->warnings();
  auto path = path_profile(run, states->threads(), critical_path(run, states->threads()));
  if (!path) return path.failure();
  report.critical_path = std::move(*path);
  return report;
}

Result<TableStream> wait_table(Run& run) {
  using namespace row_columns;
  using Row = WaitState;
  auto opened = WaitStates::open(run);
  if (!opened) return opened.failure();
  const auto states = std::make_shared<WaitStates>(std::move(*opened));
  const auto texts = std::make_shared<const TableTexts>(run);
  const auto kinds =
      std::make_shared<const arrow::Array>(arrow::text_array({std::begin(wait_kind_names), std::end(wait_kind_names)}));
  const arrow::Field kind{"kind", arrow::Type::dictionary, false, {}, kinds};
  std::vector<RowColumn<Row>> columns{
      text<Row>("kind", kind, [](const Row& row) { return static_cast<std::int32_t>(row.kind); }),
      index<Row>("world", [](const Row& row) { return row.world; }),
      index<Row>("rank", [](const Row& row) { return row.rank; })};
  add_call<Row>(columns, texts, "", [](const Row& row) { return &row.call; });
  columns.push_back(text<Row>("communicator", texts->like(EventColumn::communicator),
                              [texts](const Row& row) { return texts->texts.communicator(row.communicator).name; }));
  add_times<Row>(columns, "enter_ns", "leave_ns", [](const Row& row) { return &row.call; });
  columns.push_back(int64<Row>("wait_ns", [](const Row& row) { return row.wait_ns; }));
  columns.push_back(index<Row>("cause_rank", [](const Row& row) { return row.cause_rank; }));
  add_call<Row>(columns, texts, "cause_", [](const Row& row) { return &row.cause; });
  columns.push_back(int64<Row>("cause_enter_ns", [](const Row& row) { return row.cause.enter_ns; }));
  columns.push_back(int64<Row>("delay_ns", [](const Row& row) { return row.delay_ns; }));
  columns.push_back(int64<Row>("passed_on_ns", [](const Row& row) { return row.passed_on_ns; }));
  columns.push_back(int64<Row>("longest_delay_ns", [](const Row& row) { return row.longest_delay_ns; }));
  columns.push_back(boolean<Row>("delay_in_call", [](const Row& row) { return row.delay.in_call; }));
  columns.push_back(
      index<Row>("delay_site", [](const Row& row) { return row.longest_delay_ns > 0 ? row.delay.site : -1; }));
  auto table =
      std::make_shared<RowTable<Row>>(std::move(columns), [states](std::vector<Row>& rows) { rows = states->next(); });
  return TableStream{table->schema(), [table](std::vector<arrow::Array>& out) { return table->next(out); },
                     [states] { return states->warnings(); }};
}

}  // namespace tare::reader
