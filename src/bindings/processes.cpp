#include <iterator>

#include "bindings/fields.h"
#include "bindings/parts.h"
#include "bindings/words.h"
#include "reader/model/account.h"
#include "reader/model/total_cost.h"

namespace tare::bindings {
namespace {

using format::ProcessRecord;
using reader::Account;
using reader::TotalCost, reader::TotalTrace;

// The moment at which the times of a process end (docs/json.md).
enum class Until : std::uint8_t { now, end, command, exit, last_seen };

}  // namespace
}  // namespace tare::bindings

namespace nanobind::detail {
template <>
struct type_caster<tare::format::Policy> : WordCaster<tare::format::Policy, "block", "drop", "overwrite"> {};
template <>
struct type_caster<tare::format::Abi> : WordCaster<tare::format::Abi, "none", "mpich", "openmpi", "standard"> {};
template <>
struct type_caster<tare::reader::State>
    : WordCaster<tare::reader::State, "running", "finished", "exited", "aborted", "killed", "unknown"> {};
template <>
struct type_caster<tare::bindings::Until>
    : WordCaster<tare::bindings::Until, "now", "end", "command", "exit", "last_seen"> {};
}  // namespace nanobind::detail

namespace tare::bindings {
namespace {

// The cost account of one process.
struct Cost : TotalCost {};

struct ThreadName {
  std::uint32_t thread = 0;
  ShownText name;
};

struct PyProcess {
  // One of the run, which is not changed, or one that is made by its fields.
  std::shared_ptr<reader::Process> of = std::make_shared<reader::Process>();
  Account account;
  std::uint64_t calls = 0, counted = 0;
  std::uint32_t full = 0;  // format::FullTables
  Cost cost;
  TotalTrace trace;
  format::SchedulingSums scheduling;
};

struct Spell : reader::Spell {
  std::int32_t world = 0, rank = -1;
  std::uint32_t number = 0;
  std::int32_t first = -1, last = -1;  // sites of the run
  std::int64_t begin_ns = 0, ns = 0, flush_ns = 0;
};

std::vector<PyProcess> processes(PyRun& py_run) {
  const nb::gil_scoped_release unlocked;
  reader::Run& run = py_run.run();
  std::vector<PyProcess> all;
  for (std::size_t i = 0; i < run.processes().size(); ++i) {
    auto& process = const_cast<reader::Process&>(run.processes()[i]);
    const reader::Totals& totals = run.totals(i);
    const Account account = reader::account_of(process, totals);
    reader::CostSums sums;
    sums.add(process, totals, account);
    all.push_back({std::shared_ptr<reader::Process>(py_run.shared(), &process),
                   account,
                   totals.calls + totals.counted,
                   totals.counted,
                   totals.full,
                   {sums.cost()},
                   sums.trace(),
                   totals.scheduling});
  }
  return all;
}

// For all processes, or for the ranks of a world.
reader::CostSums cost_sums(PyRun& py_run, std::optional<int> world) {
  const nb::gil_scoped_release unlocked;
  reader::Run& run = py_run.run();
  reader::CostSums sums;
  for (std::size_t i = 0; i < run.processes().size(); ++i) {
    const reader::Process& process = run.processes()[i];
    if (!world || (process.world == *world && process.record.rank >= 0)) sums.add(process, run.totals(i));
  }
  return sums;
}

std::vector<Spell> spells(PyRun& run) {
  std::vector<Spell> all;
  for (const reader::Process& process : run.run().processes()) {
    for (const auto& [number, spell] : process.spells) {
      if (!spell.finished) continue;
      all.push_back({spell, process.world, process.record.rank, number, process.sites.find(spell.first_site),
                     process.sites.find(spell.last_site), process.clock.unix_ns(spell.begin),
                     process.clock.duration_ns(spell.ticks), process.clock.duration_ns(spell.flush_ticks)});
    }
  }
  return all;
}

Until until(const PyProcess& process) {
  const ProcessRecord& record = process.of->record;
  if (process.of->state == reader::State::running) return Until::now;
  if ((record.flags & format::end_seen) != 0) return Until::end;
  if ((record.flags & format::ended_with_command) != 0) return Until::command;
  const bool told = record.state == format::ProcessState::exited || record.state == format::ProcessState::aborted;
  return told ? Until::exit : Until::last_seen;
}

// What was left out or made smaller because there was no memory for all of it.
constexpr struct {
  const char* name;
  std::uint32_t ProcessRecord::*flags;  // nullptr: PyProcess::full
  std::uint32_t flag;
} reductions[] = {{"buffer", &ProcessRecord::flags, format::small_buffer},
                  {"events", &ProcessRecord::flags, format::no_buffer},
                  {"events of threads", nullptr, format::without_buffer},
                  {"profile", &ProcessRecord::flags, format::small_profile}};

std::vector<std::string> reduced(const PyProcess& process) {
  std::vector<std::string> names;
  for (const auto& each : reductions)
    if (((each.flags != nullptr ? process.of->record.*each.flags : process.full) & each.flag) != 0)
      names.emplace_back(each.name);
  return names;
}

std::vector<ThreadName> thread_names(const PyProcess& process) {
  std::vector<ThreadName> names;
  for (const auto& [number, name] : process.of->thread_names) names.push_back({number, {name}});
  return names;
}

// Up to `dropped`, what the accounts of one and of several processes have.
template <typename T>
void define_cost(Fields<T>& of, bool total) {
  if (total) of.template members<&T::calls, &T::counted>();
  of.template members<&T::call_ns, &T::timed_call_ns, &T::lookup_ns, &T::event_ns, &T::own_events, &T::wrapper_ns,
                      &T::wrapper_error_ns, &T::weighed, &T::net_share>();
  if (total) of.template members<&T::recorded_ns, &T::wall_share>();
  of.template members<&T::hook_init_ns, &T::hook_finalize_ns, &T::chooser_ns, &T::analysis_ns, &T::readings,
                      &T::reading_ns, &T::stack_samples, &T::stack_ns, &T::flushes, &T::flush_ns, &T::flush_bytes,
                      &T::drains, &T::drain_ns, &T::drain_bytes, &T::offload_points, &T::offloads, &T::offloads_lost,
                      &T::offload_ns, &T::offload_max_ns, &T::offload_wait_ns, &T::dropped>();
}

void define_sums(nb::module_& module) {
  Fields<Cost> cost(module, "Cost", "The cost account of a process; numbers of offloads are 0 without --monitor.");
  define_cost(cost, false);
  Fields<TotalCost> total(
      module, "TotalCost",
      "The cost account of several processes: sums, if nothing else is said.\n\n"
      "The costs of a call are means, that of an event of the API is the largest of all processes.\n"
      "`counted` is the part of `calls` that was only counted. `wrapper_ns` is estimated from the\n"
      "`weighed` calls; its 95 % confidence interval is twice `wrapper_error_ns` wide (None: not\n"
      "known). `net_share`: what measuring took, as a share of\n"
      "`recorded_ns`, the net time of the threads that recorded anything; `wall_share`: with the hooks, of the\n"
      "time from the first call to the end.");
  define_cost(total, true);
  Fields<TotalTrace>(
      module, "Trace",
      "The trace of a process, or of several: the policy is the first one's (None: no trace), and all must "
      "be `written`. `kept_newest`: a buffer could not be written out, from then on its newest events were "
      "kept; `no_space`: for want of space.")
      .members<&TotalTrace::records, &TotalTrace::bytes, &TotalTrace::dropped, &TotalTrace::overwritten_bytes,
               &TotalTrace::policy, &TotalTrace::kept_newest, &TotalTrace::no_space, &TotalTrace::written>();
}

// Time of the threads of a process on no processor, outside MPI and in calls.
void define_scheduling(nb::module_& module) {
  using format::OffProcessor, format::SchedulingSums;
  using reader::OffTimes;
  Fields<SchedulingSums> fields(
      module, "Scheduling",
      "How the operating system scheduled the threads of a process that call MPI, or, without MPI, the first one,\n"
      "as far as it was looked at: once in a millisecond. `observed_ns`: the time that is known, none without MPI;\n"
      "parts of it in which the threads could have run, but had no processor (`descheduled_ns`), in which they\n"
      "slept, waited in the kernel or were stopped (`blocked_ns`), or in which they ran on none and the kernel does\n"
      "not tell why (`unknown_ns`); of the first and the second, what is known to be outside MPI. `switches`:\n"
      "context switches because a thread waited; `preemptions`: because it lost its processor. `processors`: on\n"
      "which any thread may run.");
  fields.members<&SchedulingSums::readings, &SchedulingSums::observed_ns, &SchedulingSums::switches,
                 &SchedulingSums::preemptions, &SchedulingSums::page_faults, &SchedulingSums::major_page_faults>();
  const auto part = [&](const char* name, OffProcessor SchedulingSums::*of, std::int64_t OffTimes::*which) {
    fields.value(name, [=](const SchedulingSums& sums) { return reader::off_times(sums.*of).*which; });
  };
  part("descheduled_ns", &SchedulingSums::all, &OffTimes::descheduled_ns);
  part("blocked_ns", &SchedulingSums::all, &OffTimes::blocked_ns);
  part("unknown_ns", &SchedulingSums::all, &OffTimes::unknown_ns);
  part("descheduled_outside_ns", &SchedulingSums::outside, &OffTimes::descheduled_ns);
  part("blocked_outside_ns", &SchedulingSums::outside, &OffTimes::blocked_ns);
  fields.value("processors", [](const SchedulingSums& sums) {
    std::vector<std::uint32_t> numbers;
    const format::RankSet allowed = reader::allowed_processors(sums);
    for (const auto& [first, count] : allowed.runs())
      for (std::uint32_t i = 0; i < count; ++i) numbers.push_back(first + i);
    return numbers;
  });
}

void define_process(nb::module_& module) {
  using reader::Process;
  constexpr auto of = &PyProcess::of;
  constexpr auto record = &Process::record;
  constexpr auto account = &PyProcess::account;
  Fields<ThreadName>(module, "ThreadName", "A thread with a name.").members<&ThreadName::thread, &ThreadName::name>();
  Fields<PyProcess>(module, "Process", "A process that called MPI (docs/json.md).")
      .members<&Process::world>(of)
      .members<&ProcessRecord::rank, &ProcessRecord::size, &ProcessRecord::host, &ProcessRecord::pid,
               &ProcessRecord::threads>(of, record)
      .value("thread_names", thread_names)
      .members<&ProcessRecord::unmeasured_threads>(of, record)
      .value("reduced", reduced)
      .members<&ProcessRecord::left_calls, &ProcessRecord::failed_calls, &ProcessRecord::failed_communication,
               &ProcessRecord::pauses, &ProcessRecord::callback_calls>(of, record)
      .members<&Process::state>(of)
      .value("exit_code",
             [](const PyProcess& process) {
               const std::int32_t code = process.of->record.exit_code;
               return code >= 0 ? std::optional(code) : std::nullopt;
             })
      .value("signal",
             [](const PyProcess& process) {
               const std::int32_t signal = format::signal_of(process.of->record);
               return signal != 0 ? std::optional(signal) : std::nullopt;
             })
      .value("finalized", [](const PyProcess& process) { return process.of->record.finalize_leave != 0; })
      .members<&Process::stopped, &Process::has_results>(of)
      .value("saved", [](const PyProcess& process) { return (process.of->record.flags & format::saved_living) != 0; })
      .value("executable", [](const PyProcess& process) { return std::string(process.of->executable()); })
      .value("mpi", [](const PyProcess& process) { return std::string(reader::mpi_library_of(process.of->record)); })
      .members<&ProcessRecord::abi>(of, record)
      .members<&Account::start_ns, &Account::wall_ns, &Account::net_ns, &Account::threads_ns, &Account::mpi_ns,
               &Account::counted_ns, &Account::whole_mpi_ns, &Account::unreturned_ns>(account)
      .value("until", until)
      .members<&PyProcess::calls, &PyProcess::counted, &PyProcess::cost, &PyProcess::trace, &PyProcess::scheduling>();
}

void define_saved(nb::module_& module, nb::class_<PyRun>& run) {
  using reader::MissingRanks;
  Fields<MissingRanks>(
      module, "SavedRanks",
      "Ranks of a world, which follow one another on a host, of which the run has what a keeper wrote while they\n"
      "ran.")
      .members<&MissingRanks::world>()
      .field("first_rank", &MissingRanks::first)
      .field("last_rank", &MissingRanks::last)
      .members<&MissingRanks::size>()
      .unless("host", std::string(), &MissingRanks::host);
  run.def("saved", [](PyRun& of) { return of.run().saved(); });
}

void define_spell(nb::module_& module) {
  Fields<Spell>(
      module, "Spell",
      "What a process did between two synchronisation points (src/recorder/spells.h). `cut`: less was kept of "
      "its end than of its begin. `control`: only counted, at random; the others are compared with it.")
      .members<&Spell::world, &Spell::rank>()
      .field("spell", &Spell::number)
      .members<&Spell::measured, &Spell::traced, &Spell::cut, &Spell::control, &Spell::has_requests, &Spell::timed,
               &Spell::sync_points>()
      .field("first_site", &Spell::first)
      .field("last_site", &Spell::last)
      .members<&Spell::begin_ns, &Spell::ns, &Spell::flush_ns, &Spell::measured_calls, &Spell::counted_calls,
               &Spell::counted_polls>();
}

}  // namespace

void define_processes(nb::module_& module, nb::class_<PyRun>& run) {
  using namespace nb::literals;
  define_sums(module);
  define_scheduling(module);
  define_process(module);
  define_spell(module);
  define_saved(module, run);
  run.def("processes", processes);
  run.def("process_count", [](PyRun& of) { return of.run().processes().size(); });
  run.def(
      "total_cost", [](PyRun& of, std::optional<int> world) { return cost_sums(of, world).cost(); },
      "world"_a = nb::none(), "The cost of all processes, or of the ranks of a world.");
  run.def(
      "total_trace", [](PyRun& of, std::optional<int> world) { return cost_sums(of, world).trace(); },
      "world"_a = nb::none());
  run.def("spells", spells);
}

}  // namespace tare::bindings
