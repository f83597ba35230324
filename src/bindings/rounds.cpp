#include <nanobind/operators.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "bindings/convert.h"
#include "bindings/parts.h"
#include "bindings/text.h"
#include "bindings/words.h"
#include "format/filter_names.h"
#include "reader/store/round_events.h"
#include "reader/store/round_file.h"

namespace nanobind::detail {
template <>
struct type_caster<tare::format::EventKind>
    : WordCaster<tare::format::EventKind, "function", "region", "phase", "counter"> {};
}  // namespace nanobind::detail

namespace tare::bindings {

using namespace nb::literals;
using reader::Bins;

namespace {

using Events = std::vector<reader::EventStatistics>;

// A round that outlives what it was read from.
struct PyRound {
  format::Round round;  // its texts are here:
  std::string filter;
  std::vector<std::byte> reduced;
  Events events;
  std::shared_ptr<const reader::RoundNames> names;
};

PyRound kept(const reader::StoredRound& round, const std::shared_ptr<const reader::RoundNames>& names) {
  PyRound made{round,
               std::string(round.filter),
               {round.reduced.begin(), round.reduced.end()},
               reader::possible_events(*names, round),
               names};
  made.round.filter = {};
  made.round.reduced = {};
  return made;
}

using Histograms = nb::typed<nb::dict, std::pair<format::EventKind, std::string>, Bins>;

Histograms histograms(const PyRound& of) {
  Histograms found;
  for (const reader::EventBins& each : reader::histograms_of(*of.names, of.filter, of.reduced))
    found[nb::make_tuple(each.event.kind, text(each.event.name))] = each.bins;
  return found;
}

Events total_events(const std::vector<const PyRound*>& rounds) {
  std::vector<const Events*> all;
  for (const PyRound* round : rounds) all.push_back(&round->events);
  return reader::merged_events(all);
}

class PyRoundFile {
 public:
  PyRoundFile(const std::filesystem::path& path, std::uint64_t begin, std::optional<std::uint64_t> end)
      : file_(path.string(), begin, end) {}

  std::pair<std::vector<PyRound>, bool> read() {
    const reader::RoundChunks found = [&] {
      const nb::gil_scoped_release unlocked;
      return unwrap(file_.read());
    }();
    std::vector<PyRound> rounds;
    for (const auto& payload : found.payloads) add({payload.data(), payload.size()}, rounds);
    return {std::move(rounds), found.is_all};
  }
  std::vector<PyRound> decoded(const nb::bytes& payload) {
    std::vector<PyRound> rounds;
    add({payload.c_str(), payload.size()}, rounds);
    return rounds;
  }
  std::vector<format::PaceRecord> paces() const { return reader_.paces(); }

 private:
  void add(std::string_view payload, std::vector<PyRound>& rounds) {
    reader_.read(payload, [&](const reader::StoredRound& round) { rounds.push_back(kept(round, reader_.names())); });
  }

  reader::RoundFile file_;
  reader::RoundReader reader_;
};

// The member of the round's head.
template <auto member>
auto of_round(const PyRound& of) {
  return of.round.*member;
}

void define_values(nb::module_& module) {
  using format::RankSet;
  using Runs = nb::typed<nb::tuple, std::pair<std::uint32_t, std::uint32_t>, nb::ellipsis>;
  const auto tuple_of = [](const RankSet& ranks) {
    nb::list runs;
    for (const RankSet::Run& run : ranks.runs()) runs.append(nb::make_tuple(run.first, run.count));
    return Runs(nb::tuple(runs));
  };
  nb::class_<RankSet>(module, "Ranks",
                      "A set of ranks. A file may name two billions: what shows rounds goes through runs, not ranks.")
      .def(
          "__init__",
          [](RankSet* self, const std::vector<std::pair<std::uint32_t, std::uint32_t>>& runs) {
            std::vector<RankSet::Run> all;
            for (const auto& [first, count] : runs) all.push_back({first, count});
            new (self) RankSet(RankSet::of_runs(std::move(all)));
          },
          "runs"_a = nb::make_tuple())
      .def_prop_ro("runs", tuple_of, "(first rank, number of ranks) of each run of successive ranks.")
      .def("__len__", &RankSet::size)
      .def(
          "__iter__",
          [](const RankSet& ranks) {
            nb::list ranges;
            const nb::object range = nb::module_::import_("builtins").attr("range");
            for (const auto& run : ranks.runs()) ranges.append(range(run.first, std::uint64_t{run.first} + run.count));
            return nb::module_::import_("itertools").attr("chain").attr("from_iterable")(ranges);
          },
          nb::sig("def __iter__(self) -> collections.abc.Iterator[int]"))
      .def("__str__", [](const RankSet& ranks) { return ranks.text(); })
      .def("__hash__", [tuple_of](const RankSet& ranks) { return nb::hash(tuple_of(ranks)); })
      .def(nb::self == nb::self);

  using format::Statistic;
  nb::class_<Statistic>(module, "Statistic", "One metric of an event over the ranks that have the event.")
      .def_ro("mean", &Statistic::mean)
      .def_prop_ro("deviation", &Statistic::deviation, "The standard deviation of the population.")
      .def_ro("least", &Statistic::least)
      .def_ro("most", &Statistic::most)
      .def_ro("least_rank", &Statistic::least_rank, "The lowest rank with the least value.")
      .def_ro("most_rank", &Statistic::most_rank, "The lowest rank with the largest value.");

  using Event = reader::EventStatistics;
  nb::class_<Event>(module, "Event", "An event of a round.")
      .def_prop_ro("name", [](const Event& of) { return std::string(of.event.name); })
      .def_prop_ro("kind", [](const Event& of) { return of.event.kind; })
      .def_prop_ro(
          "ranks", [](const Event& of) { return of.metrics[0].ranks; }, "Number of ranks that have it.")
      .def_prop_ro(
          "calls", [](const Event& of) { return &of.metrics[0]; }, nb::rv_policy::reference_internal)
      .def_prop_ro(
          "time", [](const Event& of) { return &of.metrics[1]; }, nb::rv_policy::reference_internal, "In ns.")
      .def_prop_ro(
          "bytes", [](const Event& of) { return &of.metrics[2]; }, nb::rv_policy::reference_internal,
          "For counters: the value.");

  nb::class_<Bins>(module, "Bins",
                   "A histogram. Bin i has the ranks with values from (first + i) * width to below (first + i + 1) * "
                   "width. Widths are powers of two, so a wider bin consists of whole narrower ones.")
      .def(
          "__init__",
          [](Bins* self, std::uint32_t exponent, std::uint64_t first, std::vector<std::uint32_t> counts) {
            const auto size = static_cast<std::uint32_t>(counts.size());
            new (self) Bins{{exponent, first, size}, std::move(counts)};
          },
          "exponent"_a, "first"_a, "counts"_a)
      .def_prop_ro(
          "exponent", [](const Bins& of) { return of.histogram.exponent(); }, "The width is 2 ** exponent.")
      .def_prop_ro("first", [](const Bins& of) { return of.histogram.first(); })
      .def_prop_ro(
          "counts",
          [](const Bins& of) { return nb::typed<nb::tuple, int, nb::ellipsis>(nb::tuple(nb::cast(of.counts))); },
          "By bin: number of ranks.")
      .def_prop_ro(
          "width", [](const Bins& of) { return of.histogram.width(); }, "In the unit of the metric.")
      .def(
          "low", [](const Bins& of, std::uint32_t bin) { return of.histogram.low(bin); }, "bin"_a,
          "Where a bin begins; bin `len(counts)` would begin where the last one ends.")
      .def("widened", &Bins::widened, "exponent"_a, "The same ranks in bins that are as wide or wider.")
      .def(nb::self == nb::self);

  using format::PaceRecord;
  nb::class_<PaceRecord>(module, "Pace", "A decision of `--monitor=auto`: the interval that all ranks keep.")
      .def_ro("from_round", &PaceRecord::from_round, "The first round for which it holds.")
      .def_ro("interval_ns", &PaceRecord::interval_ns)
      .def_ro("boi_ns", &PaceRecord::boi_ns, "0: not known yet.")
      .def_ro("rest_ns", &PaceRecord::rest_ns, "The one-way delay at rest; 0: not known yet.");
}

}  // namespace

void define_rounds(nb::module_& module) {
  define_values(module);
  using format::Round;
  nb::class_<PyRound>(module, "Round", "A round. Times are Unix times in ns. Sums are since the start of the program.")
      .def_prop_ro("round", &of_round<&Round::round>, "Its number.")
      .def_prop_ro("first_ns", &of_round<&Round::first_offload_ns>, "The first offload.")
      .def_prop_ro("last_ns", &of_round<&Round::last_offload_ns>, "The last offload.")
      .def_prop_ro("arrived_ns", &of_round<&Round::arrived_ns>, "The arrival of its last part at the root.")
      .def_prop_ro(
          "delay_ns", [](const PyRound& of) { return of.round.delay_ns(); },
          "From the first offload until all of the round had arrived.")
      .def_prop_ro("ranks", &of_round<&Round::ranks>, "Ranks whose snapshots are in it.")
      .def_prop_ro("lost", &of_round<&Round::lost>, "Other ranks that took part at that time.")
      .def_ro("filter", &PyRound::filter, "What reduced it; empty: it was lost.")
      .def_prop_ro(
          "size", [](const PyRound& of) { return of.reduced.size(); }, "Bytes of the result of the filter.")
      .def_ro("events", &PyRound::events, "Of the filter `statistics`. Events with impossible numbers are left out.")
      .def_prop_ro("has_histograms", [](const PyRound& of) { return reader::has_histograms(of.filter); })
      .def("histograms", &histograms,
           "By kind and name of an event the time over ranks, or the value of a counter. Damaged ones are left out.");

  nb::class_<PyRoundFile>(module, "RoundFile", "One file of rounds, which may grow.")
      .def(nb::init<const std::filesystem::path&, std::uint64_t, std::optional<std::uint64_t>>(), "path"_a,
           "begin"_a = 0, "end"_a = nb::none(),
           "With `end` the bytes from `begin` to `end` of an archive, else a file of a run.")
      .def("read", &PyRoundFile::read,
           "The rounds since the last call, or the first of them; whether these were all. Damaged ones are left out.")
      .def("decoded", &PyRoundFile::decoded, "payload"_a, "The rounds in the payload of a chunk.")
      .def_prop_ro("paces", &PyRoundFile::paces, "Up to what was read.");

  module.def("total_events", &total_events, "rounds"_a,
             "Each event of rounds of different ranks once, by kind and name: what it has had since the start.");
  module.def(
      "merged_bins", [](const std::vector<Bins>& parts) { return reader::merged_bins(parts); }, "parts"_a,
      "The ranks of all of them in bins of the widest; in wider ones if they lie far apart.");
  module.def(
      "main_metric",
      [](format::EventKind kind) { return std::string(reader::metrics_of(kind)[reader::main_metric(kind)]); }, "kind"_a,
      "The metric that is shown of an event where there is room for one.");
  module.def(
      "split_filters",
      [](const std::filesystem::path& filters) {
        const std::string bytes = filters.string();
        const auto found = format::split_filters(bytes);
        return std::vector<std::string>(found.begin(), found.end());
      },
      "filters"_a, "One or several filters with a plus between them, each with its arguments.");
  nb::list names;
  for (const std::string_view name : format::filter_names) names.append(text(name));
  module.attr("FILTERS") = nb::tuple(names);
}

}  // namespace tare::bindings
