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
  auto opened = WaitStates::open(run);
  if (!opened) return opened.failure();
  const auto states = std::make_shared<WaitStates>(std::move(*opened));
  const auto texts = std::make_shared<RunTexts>(run, SiteTexts::lines);
  for (const char* kind : wait_kind_names) texts->of("kind").number_of(kind);
  const auto more = [states, texts](std::vector<rows::Waits>& rows) {
    for (const WaitState& wait : states->next()) {
      const bool has_delay = wait.longest_delay_ns > 0;
      rows.push_back({.kind = static_cast<std::int32_t>(wait.kind),
                      .world = wait.world,
                      .rank = wait.rank,
                      .thread = static_cast<std::int32_t>(wait.call.thread),
                      .call = texts->call(wait.call.function, wait.call.site),
                      .communicator = texts->communicator(wait.communicator).communicator,
                      .ends = ends_of(wait.call),
                      .wait_ns = wait.wait_ns,
                      .cause_rank = if_known(wait.cause_rank),
                      .cause_thread = if_known(static_cast<std::int32_t>(wait.cause.thread)),
                      .cause_call = texts->call(wait.cause.function, wait.cause.site),
                      .cause_enter_ns = wait.cause.enter_ns,
                      .delay_ns = wait.delay_ns,
                      .passed_on_ns = wait.passed_on_ns,
                      .longest_delay_ns = wait.longest_delay_ns,
                      .delay_in_call = wait.delay.in_call,
                      .delay_site = has_delay ? if_known(wait.delay.site) : std::nullopt});
    }
  };
  return streamed_table<rows::Waits>(*texts, more, [states] { return states->warnings(); });
}

}  // namespace tare::reader
