#include "reader/waits/wait_report.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "reader/events/traced_time.h"
#include "reader/matching/call_columns.h"
#include "reader/time_arithmetic.h"
#include "reader/waits/read_waits.h"

namespace tare::reader {
namespace {

// When each world began, and how long it took.
class Spans {
 public:
  explicit Spans(const Run& run) {
    const std::vector<TracedTime> times = traced_times(run);
    for (std::size_t i = 0; i < times.size(); ++i) {
      Span& of = spans_.try_emplace(run.processes()[i].world).first->second;
      of.begin_ns = std::min(of.begin_ns, times[i].begin_ns);
      of.end_ns = std::max(of.end_ns, times[i].end_ns);
    }
  }
  std::size_t part_of(std::int32_t world, std::int64_t at_ns) const {
    const auto found = spans_.find(world);
    if (found == spans_.end()) return 0;
    const auto length =
        static_cast<double>(std::max<std::int64_t>(difference(found->second.end_ns, found->second.begin_ns), 1));
    const double part = static_cast<double>(difference(at_ns, found->second.begin_ns)) / length * RootSum::parts;
    return static_cast<std::size_t>(std::clamp(part, 0.0, RootSum::parts - 1.0));
  }

 private:
  struct Span {
    std::int64_t begin_ns = INT64_MAX, end_ns = INT64_MIN;
  };
  std::map<std::int32_t, Span> spans_;
};

// Where ranks waited.
struct Where {
  std::int32_t world, site;
  std::uint16_t function;
  WaitKind kind;
  auto operator<=>(const Where&) const = default;  // NOLINT(modernize-use-nullptr)
};
Where where(const WaitState& wait) { return {wait.world, wait.call.site, wait.call.function, wait.kind}; }

template <class Row>
std::vector<Row> sorted(std::vector<Row> rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.wait_ns > b.wait_ns; });
  return rows;
}

class Sums {
 public:
  explicit Sums(const Run& run) : spans_(run) {}

  void add(const WaitState& wait) {
    Of& of = all_[where(wait)];
    WaitSum& waits = of.waits.try_emplace(wait.rank).first->second;
    ++waits.waits;
    waits.wait_ns = sum(waits.wait_ns, wait.wait_ns);
    if (wait.wait_ns > waits.longest_ns) {
      waits.longest_ns = wait.wait_ns;
      waits.longest_start_ns = wait.call.enter_ns;
      waits.longest_thread = wait.call.thread;
    }
    std::int64_t& awaited = of.awaited[wait.cause_rank];
    awaited = sum(awaited, wait.wait_ns);
    double rest = 1;
    for (const RootCause& root : wait.roots) {
      add(of, root.rank, root.activity, wait, root.share);
      rest -= root.share;
    }
    if (rest > 1e-9) add(of, -1, {}, wait, rest);
  }

  void write(WaitReport& report, const WaitStates& states) const {
    for (const auto& [at, of] : all_) {
      for (const auto& [rank, waits] : of.waits) {
        WaitSum row = waits;
        row.world = at.world;
        row.rank = rank;
        row.kind = at.kind;
        row.function = at.function;
        row.site = at.site;
        report.waits.push_back(row);
      }
      for (const auto& [rank, wait_ns] : of.awaited)
        report.awaited.push_back({at.world, rank, at.kind, at.function, at.site, wait_ns});
      for (const auto& [key, root] : of.roots) {
        RootSum row = root;
        row.world = at.world;
        row.kind = at.kind;
        row.function = at.function;
        row.site = at.site;
        std::tie(row.cause_rank, row.activity.site, row.activity.in_call, row.activity.scheduled) = key;
        row.cause_function = states.function_at(row.activity.site);
        report.causes.push_back(std::move(row));
      }
    }
    report.waits = sorted(std::move(report.waits));
    report.awaited = sorted(std::move(report.awaited));
    report.causes = sorted(std::move(report.causes));
  }

 private:
  struct Of {
    std::map<std::int32_t, WaitSum> waits;         // by rank that waits
    std::map<std::int32_t, std::int64_t> awaited;  // by rank that was waited for
    std::map<std::tuple<std::int32_t, std::int32_t, bool, Scheduled>, RootSum> roots;
  };

  void add(Of& of, std::int32_t rank, const SiteActivity& activity, const WaitState& wait, double share) {
    RootSum& root = of.roots[{rank, activity.site, activity.in_call, activity.scheduled}];
    const double wait_ns = share * static_cast<double>(wait.wait_ns);
    ++root.waits;
    root.wait_ns += wait_ns;
    root.longest_ns = std::max(root.longest_ns, wait_ns);
    const std::size_t part = spans_.part_of(wait.world, wait.call.enter_ns);
    root.by_time[part] += wait_ns;
    root.waits_by_time[part] += share;
    const auto waiting = static_cast<std::size_t>(wait.rank);
    if (waiting >= root.by_rank.size()) root.by_rank.resize(waiting + 1);
    root.by_rank[waiting] += wait_ns;
  }

  Spans spans_;
  std::map<Where, Of> all_;
};

}  // namespace

Result<WaitReport> wait_report(Run& run) {
  std::optional<Sums> sums;
  const auto states = read_waits(run, [&] {
    sums.emplace(run);
    return [&sums](const WaitState& wait) { sums->add(wait); };
  });
  if (!states) return states.failure();
  WaitReport report;
  sums->write(report, *states);
  report.wrong_order = states->wrong_order();
  report.unexpected = states->unexpected();
  for (const TracedThread& thread : states->threads())
    for (std::size_t i = 0; i < thread.sites.size(); ++i) {
      const SiteTimes& of = thread.sites[i];
      const auto site = static_cast<std::int32_t>(i) - 1;
      if (of.outside_ns > 0 || of.descheduled_in_calls_ns > 0)
        report.outside.push_back({thread.world, thread.rank, site, states->function_at(site), of.outside_ns,
                                  of.descheduled_ns, of.blocked_ns, of.descheduled_in_calls_ns});
    }
  report.violations = states->violations();
  report.warnings = states->warnings();
  auto path = path_profile(run, states->threads(), critical_path(run, states->threads()));
  if (!path) return path.failure();
  report.critical_path = std::move(*path);
  return report;
}

namespace {

// The waits one after another, and the texts of their rows.
struct WaitRows {
  std::shared_ptr<WaitStates> states;
  std::shared_ptr<RunTexts> texts;

  static Result<WaitRows> open(Run& run) {
    const auto first = read_waits(run, [] { return [](const WaitState&) {}; });
    if (!first) return first.failure();
    auto opened = WaitStates::open(run, first->eager());
    if (!opened) return opened.failure();
    WaitRows rows{std::make_shared<WaitStates>(std::move(*opened)), std::make_shared<RunTexts>(run, SiteTexts::lines)};
    for (const char* kind : wait_kind_names) rows.texts->of("kind").number_of(kind);
    return rows;
  }

  rows::Call call_at(std::int32_t site) const { return texts->call(states->function_at(site), site); }

  // A table of the rows that add(wait, rows) makes of each wait.
  template <class Row, class Add>
  TableStream table(Add add) const {
    const auto more = [states = states, add](std::vector<Row>& rows) {
      for (const WaitState& wait : states->next()) add(wait, rows);
    };
    return streamed_table<Row>(*texts, more, [states = states] { return states->warnings(); });
  }
};

}  // namespace

Result<TableStream> wait_table(Run& run) {
  const auto opened = WaitRows::open(run);
  if (!opened) return opened.failure();
  return opened->table<rows::Waits>([of = *opened](const WaitState& wait, std::vector<rows::Waits>& rows) {
    const bool has_delay = wait.longest_delay_ns > 0;
    rows.push_back({.kind = static_cast<std::int32_t>(wait.kind),
                    .world = wait.world,
                    .rank = wait.rank,
                    .thread = static_cast<std::int32_t>(wait.call.thread),
                    .call = of.texts->call(wait.call.function, wait.call.site),
                    .communicator = of.texts->communicator(wait.communicator).communicator,
                    .ends = ends_of(wait.call),
                    .wait_ns = wait.wait_ns,
                    .cause_rank = if_known(wait.cause_rank),
                    .cause_thread = if_known(static_cast<std::int32_t>(wait.cause.thread)),
                    .cause_call = of.texts->call(wait.cause.function, wait.cause.site),
                    .cause_enter_ns = wait.cause.enter_ns,
                    .delay_ns = wait.delay_ns,
                    .passed_on_ns = wait.passed_on_ns,
                    .longest_delay_ns = wait.longest_delay_ns,
                    .delay_in_call = wait.delay.in_call,
                    .delay_call = has_delay ? of.call_at(wait.delay.site) : rows::Call{}});
  });
}

Result<TableStream> root_cause_table(Run& run) {
  const auto opened = WaitRows::open(run);
  if (!opened) return opened.failure();
  for (const Scheduled each : {Scheduled::running, Scheduled::descheduled, Scheduled::blocked})
    opened->texts->of("root_scheduled").number_of(name_of(each));
  return opened->table<rows::RootCauses>([of = *opened](const WaitState& wait, std::vector<rows::RootCauses>& rows) {
    for (const RootCause& root : wait.roots) {
      const auto& [site, in_call, scheduled] = root.activity;
      const bool is_told = !(in_call && scheduled == Scheduled::running);
      rows.push_back({.kind = static_cast<std::int32_t>(wait.kind),
                      .world = wait.world,
                      .rank = wait.rank,
                      .thread = static_cast<std::int32_t>(wait.call.thread),
                      .call = of.texts->call(wait.call.function, wait.call.site),
                      .ends = ends_of(wait.call),
                      .root_rank = root.rank,
                      .root_in_call = in_call,
                      .root_call = of.call_at(site),
                      .root_scheduled = is_told ? of.texts->of("root_scheduled").number_of(name_of(scheduled)) : Text{},
                      .root_ns = rounded_ns(root.share * static_cast<double>(wait.wait_ns))});
    }
  });
}

}  // namespace tare::reader
