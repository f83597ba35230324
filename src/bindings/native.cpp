// tare._native: the reader as Python sees it. Its stub, tare/_native.pyi, is made when it is built. Every failure
// becomes tare._native.Error. Work that takes time runs without the interpreter lock.

#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>

#include "bindings/fields.h"
#include "bindings/parts.h"
#include "format/chunk.h"
#include "format/control.h"
#include "format/machine.h"
#include "format/monitor_spec.h"
#include "format/offload_ring.h"
#include "reader/model/quantiles.h"
#include "reader/run/answers.h"
#include "reader/run/collect.h"
#include "reader/run/endings.h"
#include "reader/symbols/short_name.h"

namespace tare::bindings {
namespace {

using Seen = std::tuple<std::uint32_t, std::uint64_t, std::optional<int>>;

// The ending of a process, as the watch observed it. If the process is the command, its status is known in any case.
std::optional<reader::Ending> ending_of(const reader::SegmentName& segment, reader::EndingWatch* watch,
                                        const std::optional<Seen>& command) {
  auto ending = watch == nullptr ? std::nullopt : watch->ending_of(segment.file);
  if (!command || std::get<0>(*command) != segment.pid || (ending && ending->status)) return ending;
  return reader::Ending{segment.pid, std::get<1>(*command), std::get<2>(*command)};
}

reader::Collected collect(const std::filesystem::path& run_dir, const std::filesystem::path& segment_dir,
                          const std::string& run_id, const std::string& run_key,
                          std::optional<std::uint64_t> command_ended_ns, reader::EndingWatch* watch,
                          const std::optional<Seen>& command, bool presume_ended) {
  const reader::RunPaths paths{run_dir, segment_dir, run_id, "", false, run_key};
  const nb::gil_scoped_release unlocked;
  reader::Collecting how;
  how.command_ended_ns = command_ended_ns;
  how.ending_of = [&](const reader::SegmentName& segment) { return ending_of(segment, watch, command); };
  how.presume_ended = presume_ended;
  return unwrap(reader::collect(paths, how));
}

// That of `tare run`, with what it needs to live.
class Respondent {
 public:
  Respondent(reader::RunPaths paths, reader::EndingWatch& watch)
      : paths_(std::move(paths)), respondent_(paths_, "", how_of(watch)) {}
  bool answer() { return respondent_.answer(); }

 private:
  static reader::Collecting how_of(reader::EndingWatch& watch) {
    reader::Collecting how;
    how.ending_of = [&watch](const reader::SegmentName& segment) { return watch.ending_of(segment.file); };
    return how;
  }

  reader::RunPaths paths_;
  reader::Respondent respondent_;
};

std::string digits(std::uint64_t name) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(name));
  return text;
}

// The value of TARE_COLLECTOR (recorder/maker.h).
std::string collector(const std::vector<std::filesystem::path>& directories) {
  std::string names = "machine=" + digits(format::machine_name()) + ",pids=" + digits(format::pid_namespace_name());
  for (const auto& directory : directories) names += ",memory=" + digits(format::shared_memory_name(directory.c_str()));
  return names;
}

}  // namespace
}  // namespace tare::bindings

NB_MODULE(_native, module) {
  using namespace tare::bindings;
  using namespace nb::literals;
  module.doc() = "The reader of run directories.";
  // After Ctrl-C, threads of a server may still use objects of this module; that is no leak.
  nb::set_leak_warnings(false);
  module.attr("FORMAT_VERSION") = tare::format::format_version;
  // What `tare run --monitor` may ask for.
  using tare::format::MonitorSpec;
  module.attr("DEFAULT_FAN_OUT") = MonitorSpec::default_fan_out;
  module.attr("LONGEST_REGION") = MonitorSpec::name_bytes - 1;
  module.attr("LARGEST_RING") = tare::format::max_offload_bytes;
  module.attr("LONGEST_MONITOR_TEXT") = MonitorSpec::max_text_bytes;
  module.attr("ONCE") = MonitorSpec::once;
  module.attr("SMALLEST_RING") = tare::format::min_offload_bytes;
  // What `tare monitor` may hand to a job.
  using tare::format::ControlMessage;
  module.attr("LONGEST_CONTROL_NAME") = ControlMessage::name_bytes - 1;
  module.attr("LONGEST_CONTROL_TEXT") = ControlMessage::max_text_bytes;
  module.attr("LONGEST_REQUEST") = tare::format::max_request_bytes;
  const nb::exception<Error> error(module, "Error");
  // Messages may contain names that are not UTF-8.
  nb::register_exception_translator(
      [](const std::exception_ptr& thrown, void* type) {
        try {
          std::rethrow_exception(thrown);
        } catch (const Error& raised) {
          PyErr_SetObject(static_cast<PyObject*>(type), text(raised.what()).ptr());
        }
      },
      error.ptr());

  using tare::reader::Collected;
  Fields<Collected>(module, "Collected",
                    "What a collection found; nothing here tells whether the processes `unknown` run.")
      .members<&Collected::processes, &Collected::running, &Collected::unknown, &Collected::recovered_events,
               &Collected::kept, &Collected::messages>();
  module.def("collect", &collect, "run_dir"_a, "segment_dir"_a, "run_id"_a, "run_key"_a = "",
             "command_ended_ns"_a = nb::none(), "watch"_a = nb::none(), "command"_a = nb::none(),
             "presume_ended"_a = false, "Drains dead processes' segments into the run directory and stores symbols.");

  module.def("collector", &collector, "directories"_a,
             "What this process can see, for those that are to be collected.");
  module.def(
      "machine_name", [] { return digits(tare::format::machine_name()); }, "This start of this machine.");
  module.def("pid_namespace_name", &tare::format::pid_namespace_name, "The PID namespace of /proc; 0: not our own.");

  module.def("student_95", &tare::reader::student_95, "freedom"_a, "Student's t: the two-sided 95 % quantile.");
  module.def(
      "short_name", [](const std::string& name) { return tare::reader::short_name(name); }, "name"_a,
      "A function's name as people say it: of C++ without arguments and template arguments.");
  module.def(
      "short_name_with_inlined", [](const std::string& name) { return tare::reader::short_name_with_inlined(name); },
      "name"_a, "The same for \"a (inlined in b)\".");

  nb::class_<tare::reader::EndingWatch>(module, "EndingWatch", "How and when the processes of a run end.")
      .def(
          "__init__",
          [](tare::reader::EndingWatch* self, const std::filesystem::path& run_dir,
             const std::filesystem::path& segment_dir, const std::string& run_id) {
            const tare::reader::RunPaths paths{run_dir, segment_dir, run_id};
            new (self) tare::reader::EndingWatch(tare::reader::segment_directories(paths), run_id,
                                                 tare::reader::Owners(paths.run_dir));
          },
          "run_dir"_a, "segment_dir"_a, "run_id"_a);

  using tare::reader::EndingWatch;
  nb::class_<Respondent>(module, "Respondent", "Answers other nodes which calls the processes here are in.")
      .def(
          "__init__",
          [](Respondent* self, const std::filesystem::path& run_dir, const std::filesystem::path& segment_dir,
             const std::string& run_id, const std::string& run_key, EndingWatch& watch) {
            new (self) Respondent({run_dir, segment_dir, run_id, "", false, run_key}, watch);
          },
          "run_dir"_a, "segment_dir"_a, "run_id"_a, "run_key"_a, "watch"_a, nb::keep_alive<1, 6>())
      .def("answer", &Respondent::answer, nb::call_guard<nb::gil_scoped_release>(),
           "Answers what was asked since the last call; whether anything was.");
  module.attr("END_OF_ANSWER") = std::string(tare::reader::end_of_answer);

  define_archives(module);
  define_imports(module);
  define_rounds(module);
  define_source_line(module);
  auto run = define_run(module);
  define_processes(module, run);
  define_definitions(module, run);
  define_current_calls(module, run);
  define_retiming(module, run);
  define_samples(module, run);
  define_structure(module, run);
  define_events(module, run);
  define_tables(module, run);
  define_exports(module, run);
  define_timeline(module, run);
  define_waits(module, run);
}
