#include <iterator>

#include "bindings/fields.h"
#include "bindings/parts.h"
#include "bindings/words.h"
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

void set_until(PyProcess& process, Until moment) {
  ProcessRecord& record = process.of->record;
  if (moment == Until::end) record.flags |= format::end_seen;
  if (moment == Until::command) record.flags |= format::ended_with_command;
  if (moment == Until::exit) record.state = format::ProcessState::exited;
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

void set_reduced(PyProcess& process, const std::vector<std::string>& names) {
  for (const auto& each : reductions)
    if (std::ranges::find(names, each.name) != names.end())
      (each.flags != nullptr ? process.of->record.*each.flags : process.full) |= each.flag;
}

std::vector<ThreadName> thread_names(const PyProcess& process) {
  std::vector<ThreadName> names;
  for (const auto& [number, name] : process.of->thread_names) names.push_back({number, {name}});
  return names;
}

void set_thread_names(PyProcess& process, const std::vector<ThreadName>& names) {
  for (const ThreadName& each : names) process.of->thread_names[each.thread] = each.name.bytes;
}

// Up to `dropped`, what the accounts of one and of several processes have.
template <typename T>
void define_cost(Fields<T>& of, bool total) {
  if (total) of.field("calls", &T::calls).field("counted", &T::counted);
  of.field("call_ns", &T::call_ns)
      .field("timed_call_ns", &T::timed_call_ns)
      .field("lookup_ns", &T::lookup_ns)
      .field("event_ns", &T::event_ns)
      .field("own_events", &T::own_events)
      .field("wrapper_ns", &T::wrapper_ns)
      .field("wrapper_error_ns", &T::wrapper_error_ns)
      .field("weighed", &T::weighed)
      .field("net_share", &T::net_share);
  if (total) of.field("wall_share", &T::wall_share);
  of.field("hook_init_ns", &T::hook_init_ns)
      .field("hook_finalize_ns", &T::hook_finalize_ns)
      .field("chooser_ns", &T::chooser_ns)
      .field("analysis_ns", &T::analysis_ns)
      .field("readings", &T::readings)
      .field("reading_ns", &T::reading_ns)
      .field("flushes", &T::flushes)
      .field("flush_ns", &T::flush_ns)
      .field("flush_bytes", &T::flush_bytes)
      .field("drains", &T::drains)
      .field("drain_ns", &T::drain_ns)
      .field("drain_bytes", &T::drain_bytes)
      .field("offload_points", &T::offload_points)
      .field("offloads", &T::offloads)
      .field("offloads_lost", &T::offloads_lost)
      .field("offload_ns", &T::offload_ns)
      .field("offload_max_ns", &T::offload_max_ns)
      .field("offload_wait_ns", &T::offload_wait_ns)
      .field("dropped", &T::dropped);
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
      "known). `net_share`: wrappers, flushes and offloads as a share of the net time;\n"
      "`wall_share`: with the hooks, of the time from the first call to the end.");
  define_cost(total, true);
  Fields<TotalTrace>(
      module, "Trace",
      "The trace of a process, or of several: the policy is the first one's (None: no trace), and all must "
      "be `written`. `kept_newest`: a buffer could not be written out, from then on its newest events were "
      "kept; `no_space`: for want of space.")
      .field("records", &TotalTrace::records)
      .field("bytes", &TotalTrace::bytes)
      .field("dropped", &TotalTrace::dropped)
      .field("overwritten_bytes", &TotalTrace::overwritten_bytes)
      .field("policy", &TotalTrace::policy)
      .field("kept_newest", &TotalTrace::kept_newest)
      .field("no_space", &TotalTrace::no_space)
      .field("written", &TotalTrace::written);
}

// Time of the threads of a process on no processor, outside MPI and in calls.
void define_scheduling(nb::module_& module) {
  using format::OffProcessor, format::SchedulingSums;
  using reader::OffTimes;
  Fields<SchedulingSums> fields(
      module, "Scheduling",
      "How the operating system scheduled the threads of a process, as far as it was looked at: once in a\n"
      "millisecond. `observed_ns`: the time that is known; parts of it in which the threads could have run, but\n"
      "had no processor (`descheduled_ns`), or in which they ran on none and the kernel does not tell why\n"
      "(`unknown_ns`); of the first what is known to be outside MPI, and the time outside MPI in which they\n"
      "slept, waited in the kernel or were stopped. `switches`: context switches because a thread waited;\n"
      "`preemptions`: because it lost its processor. `processors`: on which they may run.");
  fields.field("readings", &SchedulingSums::readings)
      .field("observed_ns", &SchedulingSums::observed_ns)
      .field("switches", &SchedulingSums::switches)
      .field("preemptions", &SchedulingSums::preemptions)
      .field("page_faults", &SchedulingSums::page_faults)
      .field("major_page_faults", &SchedulingSums::major_page_faults);
  const auto part = [&](const char* name, OffProcessor SchedulingSums::*of, std::int64_t OffTimes::*which,
                        std::uint64_t OffProcessor::*of_made) {
    fields.value(
        name, [=](const SchedulingSums& sums) { return reader::off_times(sums.*of).*which; },
        [=](SchedulingSums& sums, std::uint64_t ns) {
          (sums.*of).ns += ns;
          if (of_made != nullptr) (sums.*of).*of_made += ns;
        });
  };
  part("descheduled_ns", &SchedulingSums::all, &OffTimes::descheduled_ns, &OffProcessor::descheduled_ns);
  part("unknown_ns", &SchedulingSums::all, &OffTimes::unknown_ns, &OffProcessor::unknown_ns);
  part("descheduled_outside_ns", &SchedulingSums::outside, &OffTimes::descheduled_ns, &OffProcessor::descheduled_ns);
  part("blocked_outside_ns", &SchedulingSums::outside, &OffTimes::blocked_ns, nullptr);
  fields.value(
      "processors",
      [](const SchedulingSums& sums) {
        std::vector<std::uint32_t> numbers;
        const format::RankSet allowed = reader::allowed_processors(sums);
        for (const auto& [first, count] : allowed.runs())
          for (std::uint32_t i = 0; i < count; ++i) numbers.push_back(first + i);
        return numbers;
      },
      [](SchedulingSums& sums, const std::vector<std::uint32_t>& numbers) {
        for (const std::uint32_t number : numbers)
          if (number < 64 * format::processor_words) sums.allowed[number / 64] |= std::uint64_t{1} << (number % 64);
      });
}

void define_process(nb::module_& module) {
  using reader::Process;
  constexpr auto of = &PyProcess::of;
  constexpr auto record = &Process::record;
  constexpr auto account = &PyProcess::account;
  Fields<ThreadName>(module, "ThreadName", "A thread with a name.")
      .field("thread", &ThreadName::thread)
      .field("name", &ThreadName::name);
  Fields<PyProcess>(module, "Process", "A process that called MPI (docs/json.md).")
      .field("world", of, &Process::world)
      .field("rank", of, record, &ProcessRecord::rank)
      .field("size", of, record, &ProcessRecord::size)
      .field("host", of, record, &ProcessRecord::host)
      .field("pid", of, record, &ProcessRecord::pid)
      .field("threads", of, record, &ProcessRecord::threads)
      .value("thread_names", thread_names,
             [](PyProcess& process, const std::vector<ThreadName>& names) { set_thread_names(process, names); })
      .field("unmeasured_threads", of, record, &ProcessRecord::unmeasured_threads)
      .value("reduced", reduced,
             [](PyProcess& process, const std::vector<std::string>& names) { set_reduced(process, names); })
      .field("left_calls", of, record, &ProcessRecord::left_calls)
      .field("state", of, &Process::state)
      .value(
          "exit_code",
          [](const PyProcess& process) {
            const std::int32_t code = process.of->record.exit_code;
            return code >= 0 ? std::optional(code) : std::nullopt;
          },
          [](PyProcess& process, std::optional<std::int32_t> code) {
            process.of->record.exit_code = code.value_or(format::exit_code_unknown);
          })
      .value(
          "signal",
          [](const PyProcess& process) {
            const std::int32_t signal = format::signal_of(process.of->record);
            return signal != 0 ? std::optional(signal) : std::nullopt;
          },
          [](PyProcess& process, std::optional<std::int32_t> signal) {
            if (signal) process.of->record.exit_code = -*signal;
          })
      .value(
          "finalized", [](const PyProcess& process) { return process.of->record.finalize_leave != 0; },
          [](PyProcess& process, bool finalized) { process.of->record.finalize_leave = finalized ? 1 : 0; })
      .field("stopped", of, &Process::stopped)
      .value(
          "executable", [](const PyProcess& process) { return std::string(process.of->executable()); },
          [](PyProcess& process, const std::string& path) { process.of->long_executable = path; })
      .value(
          "mpi", [](const PyProcess& process) { return std::string(reader::mpi_library_of(process.of->record)); },
          [](PyProcess& process, const std::string& name) {
            std::snprintf(process.of->record.mpi_library, sizeof process.of->record.mpi_library, "%s", name.c_str());
          })
      .field("abi", of, record, &ProcessRecord::abi)
      .field("start_ns", account, &Account::start_ns)
      .field("wall_ns", account, &Account::wall_ns)
      .field("net_ns", account, &Account::net_ns)
      .field("threads_ns", account, &Account::threads_ns)
      .field("mpi_ns", account, &Account::mpi_ns)
      .field("unreturned_ns", account, &Account::unreturned_ns)
      .value("until", until, [](PyProcess& process, Until moment) { set_until(process, moment); })
      .field("calls", &PyProcess::calls)
      .field("counted", &PyProcess::counted)
      .field("cost", &PyProcess::cost)
      .field("trace", &PyProcess::trace)
      .field("scheduling", &PyProcess::scheduling);
}

void define_spell(nb::module_& module) {
  Fields<Spell>(
      module, "Spell",
      "What a process did between two synchronisation points (src/recorder/spells.h). `cut`: less was kept of "
      "its end than of its begin. `control`: only counted, at random; the others are compared with it.")
      .field("world", &Spell::world)
      .field("rank", &Spell::rank)
      .field("spell", &Spell::number)
      .field("measured", &Spell::measured)
      .field("traced", &Spell::traced)
      .field("cut", &Spell::cut)
      .field("control", &Spell::control)
      .field("has_requests", &Spell::has_requests)
      .field("sync_points", &Spell::sync_points)
      .field("first_site", &Spell::first)
      .field("last_site", &Spell::last)
      .field("begin_ns", &Spell::begin_ns)
      .field("ns", &Spell::ns)
      .field("flush_ns", &Spell::flush_ns)
      .field("measured_calls", &Spell::measured_calls)
      .field("counted_calls", &Spell::counted_calls)
      .field("counted_polls", &Spell::counted_polls);
}

}  // namespace

void define_processes(nb::module_& module, nb::class_<PyRun>& run) {
  using namespace nb::literals;
  define_sums(module);
  define_scheduling(module);
  define_process(module);
  define_spell(module);
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
