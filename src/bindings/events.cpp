#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <bit>
#include <utility>

#include "bindings/convert.h"
#include "bindings/parts.h"
#include "bindings/text.h"
#include "bindings/words.h"
#include "reader/events/event_stream.h"
#include "reader/events/program_event.h"
#include "reader/run/used_file_names.h"

namespace tare::bindings {
namespace {

constexpr std::size_t batch_rows = 4096;

nb::list parameters(const reader::Run& run, const reader::EventRow& row) {
  const std::vector<format::ParameterType> types = reader::parameter_types(run, row);
  nb::list values;
  for (std::size_t i = 0; i < types.size(); ++i)
    values.append(reader::with_value(row.parameters[i], types[i], [](auto value) { return nb::cast(value); }));
  return values;
}

class EventIterator {
 public:
  // The run is kept alive by the binding.
  EventIterator(PyRun& run, reader::EventFilter filter)
      : run_(run),
        stream_(open(run.run(), std::move(filter))),
        names_(function_texts(run.run().functions())),
        files_(run.run()) {
    for (const reader::EventType& type : run.run().event_types()) event_names_.push_back(escaped_text(type.name));
  }

  nb::list next() {
    std::vector<reader::EventRow> rows;
    {
      const nb::gil_scoped_release unlocked;
      rows = stream_.next(batch_rows);
    }
    run_.set_stream_warnings(stream_.warnings());
    if (rows.empty()) throw nb::stop_iteration();
    nb::list batch;
    for (const reader::EventRow& row : rows) batch.append(dict_of(row));
    return batch;
  }

 private:
  static reader::EventStream open(const reader::Run& run, reader::EventFilter filter) {
    const nb::gil_scoped_release unlocked;
    return unwrap(reader::EventStream::open(run, std::move(filter)));
  }

  // The strings of keys are made once, and never released.
  template <nb::detail::Word key, typename T>
  static void set(nb::dict& dict, const T& value) {
    static PyObject* const made = PyUnicode_InternFromString(key.bytes);
    dict[nb::handle(made)] = value;
  }

  nb::dict dict_of(const reader::EventRow& row) {
    nb::dict dict;
    set<"start_ns">(dict, row.start_ns);
    set<"world">(dict, row.world);
    set<"rank">(dict, row.rank);
    if (row.rank < 0) set<"pid">(dict, run_.run().processes()[row.process].record.pid);
    set<"thread">(dict, row.thread);
    if (row.thread_name != nullptr) set<"thread_name">(dict, escaped_text(*row.thread_name));
    if (row.kind == reader::EventKind::event || row.kind == reader::EventKind::raw_event) {
      set_event(dict, row);
      return dict;
    }
    set<"duration_ns">(dict, row.duration_ns);
    if (reader::is_call(row.kind))
      set<"function">(dict, names_[row.function]);
    else
      set<"function">(dict, text(reader::EventStream::name(run_.run(), row)));
    if (row.site >= 0) set<"site">(dict, row.site);
    if (row.communicator >= 0) set<"communicator">(dict, row.communicator);
    if (row.scope >= 0) set<"scope">(dict, row.scope);
    if (row.bytes != format::no_bytes) set<"bytes">(dict, row.bytes);
    if (row.peer != format::no_peer) row.rooted ? set<"root">(dict, row.peer) : set<"peer">(dict, row.peer);
    if (row.peer_world != format::no_peer && !row.rooted) set<"peer_world">(dict, row.peer_world);
    if (row.tag != format::no_tag) set<"tag">(dict, row.tag);
    if (row.received != format::no_bytes) set<"received">(dict, row.received);
    if (row.source != format::no_peer) set<"source">(dict, row.source);
    if (row.source_world != format::no_peer) set<"source_world">(dict, row.source_world);
    if (row.source_tag != format::no_tag) set<"source_tag">(dict, row.source_tag);
    if (row.request != format::no_request) set<"request">(dict, row.request);
    if (row.starter != UINT32_MAX) set<"starter">(dict, row.starter);
    if (!reader::is_call(row.kind)) set<"records">(dict, row.records);
    if (row.kind == reader::EventKind::source_call) {
      const reader::UsedFiles::File* file = files_.find(row.process, row.function, row.object);
      if (file != nullptr) set<"used_file">(dict, escaped_text(file->name));
      dict["arguments"] = arguments_of(row, file == nullptr ? row.object : 0);
    }
    if (!row.requests.empty()) set<"requests">(dict, request_list(row));
    return dict;
  }

  // The arguments of a call of another source than MPI, by their names, and the number of what it works on; 0: nothing.
  nb::dict arguments_of(const reader::EventRow& row, std::uint32_t object) const {
    nb::dict arguments;
    if (object != 0) arguments["object"] = object;
    const std::vector<std::string>& names = run_.run().functions().arguments(row.function);
    for (std::size_t i = 0; i < std::min(names.size(), row.parameters.size()); ++i)
      if (names[i] != "bytes" || row.bytes != format::no_bytes) arguments[escaped_text(names[i])] = row.parameters[i];
    return arguments;
  }

  nb::list request_list(const reader::EventRow& row) const {
    nb::list list;
    for (const reader::EventRequest& of : row.requests) {
      nb::dict dict;
      if (of.request != format::no_request) set<"request">(dict, of.request);
      if (of.starter != UINT32_MAX) set<"starter">(dict, of.starter);
      if (of.communicator >= 0) set<"communicator">(dict, of.communicator);
      if (of.peer != format::no_peer) set<"peer">(dict, of.peer);
      if (of.peer_world != format::no_peer) set<"peer_world">(dict, of.peer_world);
      if (of.tag != format::no_tag) set<"tag">(dict, of.tag);
      if (of.bytes != format::no_bytes) set<"bytes">(dict, of.bytes);
      list.append(dict);
    }
    return list;
  }

  // The fields of an event of the API.
  void set_event(nb::dict& dict, const reader::EventRow& row) const {
    const std::uint64_t first = row.parameters.empty() ? 0 : row.parameters.front();
    const auto type = static_cast<std::size_t>(row.event_type);
    const format::EventClass event_class = reader::class_of(run_.run(), row);
    set<"kind">(dict, reader::event_class_names[static_cast<std::size_t>(event_class)]);
    set<"name">(dict, row.event_type < 0 ? nb::object(nb::str("other")) : event_names_[type]);
    switch (event_class) {
      case format::EventClass::region:
      case format::EventClass::phase:
        set<"begin">(dict, first != 0);
        break;
      case format::EventClass::counter:
        set<"value">(dict, std::bit_cast<double>(first));
        set<"unit">(dict, escaped_text(run_.run().event_types()[type].unit));
        break;
      case format::EventClass::regular:
      case format::EventClass::packed:
        set<"parameters">(dict, parameters(run_.run(), row));
        break;
      case format::EventClass::raw:
        set<"text">(dict, escaped_text(row.text));
        break;
      case format::EventClass::marker:
        break;
    }
  }

  PyRun& run_;
  reader::EventStream stream_;
  std::vector<nb::object> names_;
  std::vector<nb::object> event_names_;
  reader::UsedFileNames files_;
};

// To be owned by the caller, not longer than the run lives.
EventIterator* events(PyRun& run, std::optional<std::vector<int>> ranks,
                      std::optional<std::vector<std::string>> functions, std::optional<std::int64_t> start_ns,
                      std::optional<std::int64_t> end_ns, std::uint64_t limit) {
  return new EventIterator(run, {std::move(ranks), std::move(functions), start_ns, end_ns, limit});
}

}  // namespace

void define_events(nb::module_& module, nb::class_<PyRun>& run) {
  using namespace nb::literals;
  nb::class_<EventIterator>(module, "EventIterator")
      .def("__iter__", [](nb::handle self) { return self; })
      .def("__next__", &EventIterator::next);
  run.def("events", events, "ranks"_a = nb::none(), "functions"_a = nb::none(), "start_ns"_a = nb::none(),
          "end_ns"_a = nb::none(), "limit"_a = 0, nb::keep_alive<0, 1>(), nb::rv_policy::take_ownership);
}

}  // namespace tare::bindings
