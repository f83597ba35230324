// tare._record: the API for programs (include/tare/tare.h), called from Python. It is separate from tare._native, so
// that a measured program does not load the reader.

#include <dlfcn.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <tuple>

#include "bindings/text.h"
#include "tare/tare.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tare::bindings {
namespace {

constexpr const char* soname = "libtare_record.so.0";

// The functions of the recorder that this process has.
struct Recorder {
  decltype(&tare_start) start;
  decltype(&tare_recording) recording;
  decltype(&tare_define_region) define_region;
  decltype(&tare_enter) enter;
  decltype(&tare_leave) leave;
  decltype(&tare_define_phase) define_phase;
  decltype(&tare_begin_phase) begin_phase;
  decltype(&tare_end_phase) end_phase;
  decltype(&tare_sample) sample;
  decltype(&tare_pause) pause;
  decltype(&tare_resume) resume;
  decltype(&tare_flush) flush;
  decltype(&tare_progress) progress;
  decltype(&tare_offload) offload;
  decltype(&tare_find_sweet_spot) find_sweet_spot;
  decltype(&tare_control) control;
  decltype(&tare_define_counter) define_counter;
  decltype(&tare_count) count;
  decltype(&tare_define_marker) define_marker;
  decltype(&tare_mark) mark;
  decltype(&tare_define_event) define_event;
  decltype(&tare_define_packed) define_packed;
  decltype(&tare_record) record;
  decltype(&tare_define_raw) define_raw;
  decltype(&tare_record_raw) record_raw;
};
Recorder api{};

// The recorder that is loaded already, by preloading, linking, or another plugin; else the one at `path`.
void* find_recorder(const char* path) {
  if (::dlsym(RTLD_DEFAULT, "tare_enter") != nullptr) return RTLD_DEFAULT;
  void* library = ::dlopen(soname, RTLD_NOW | RTLD_NOLOAD);
  return library != nullptr ? library : ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

template <typename Function>
void resolve(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  if (function == nullptr) {
    const std::string message = "the recorder of tare lacks " + std::string(name) + ": install tare again";
    throw nb::import_error(message.c_str());
  }
}

void load(const std::string& path) {
  void* library = find_recorder(path.c_str());
  if (library == nullptr && ::dlsym(RTLD_DEFAULT, "tare_enter") == nullptr) throw nb::import_error(::dlerror());
  Recorder found{};
  resolve(library, "tare_start", found.start);
  resolve(library, "tare_recording", found.recording);
  resolve(library, "tare_define_region", found.define_region);
  resolve(library, "tare_enter", found.enter);
  resolve(library, "tare_leave", found.leave);
  resolve(library, "tare_define_phase", found.define_phase);
  resolve(library, "tare_begin_phase", found.begin_phase);
  resolve(library, "tare_end_phase", found.end_phase);
  resolve(library, "tare_sample", found.sample);
  resolve(library, "tare_pause", found.pause);
  resolve(library, "tare_resume", found.resume);
  resolve(library, "tare_flush", found.flush);
  resolve(library, "tare_progress", found.progress);
  resolve(library, "tare_offload", found.offload);
  resolve(library, "tare_find_sweet_spot", found.find_sweet_spot);
  resolve(library, "tare_control", found.control);
  resolve(library, "tare_define_counter", found.define_counter);
  resolve(library, "tare_count", found.count);
  resolve(library, "tare_define_marker", found.define_marker);
  resolve(library, "tare_mark", found.mark);
  resolve(library, "tare_define_event", found.define_event);
  resolve(library, "tare_define_packed", found.define_packed);
  resolve(library, "tare_record", found.record);
  resolve(library, "tare_define_raw", found.define_raw);
  resolve(library, "tare_record_raw", found.record_raw);
  api = found;
}

void start(const std::optional<std::string>& path) {
  if (api.start(path ? path->c_str() : nullptr) == 0) return;
  const std::string where = path.value_or(".");
  errno = errno == 0 ? EIO : errno;
  PyErr_SetFromErrnoWithFilename(PyExc_OSError, where.c_str());
  throw nb::python_error();
}

class Region {
 public:
  explicit Region(const std::string& name) : id_(api.define_region(name.c_str())) {}
  void enter() const { api.enter(id_); }
  void leave(nb::handle, nb::handle, nb::handle) const { api.leave(id_); }

 private:
  tare_id id_;
};

class Phase {
 public:
  explicit Phase(const std::string& name) : id_(api.define_phase(name.c_str())) {}
  void begin() const { api.begin_phase(id_); }
  void end() const { api.end_phase(id_); }
  void leave(nb::handle, nb::handle, nb::handle) const { api.end_phase(id_); }

 private:
  tare_id id_;
};

class Counter {
 public:
  Counter(const std::string& name, const std::string& unit) : id_(api.define_counter(name.c_str(), unit.c_str())) {}
  void set(double value) const { api.count(id_, value); }

 private:
  tare_id id_;
};

class Marker {
 public:
  explicit Marker(const std::string& name) : id_(api.define_marker(name.c_str())) {}
  void mark() const { api.mark(id_); }

 private:
  tare_id id_;
};

using Words = std::array<std::uint64_t, TARE_MAX_PARAMETERS>;

std::uint64_t integer_word(nb::handle value) {
  if (PyLong_CheckExact(value.ptr())) return PyLong_AsUnsignedLongLongMask(value.ptr());
  const nb::object index = nb::steal(PyNumber_Index(value.ptr()));
  if (!index.is_valid()) throw nb::python_error();
  return PyLong_AsUnsignedLongLongMask(index.ptr());
}

double real(nb::handle value) {
  const double number = PyFloat_AsDouble(value.ptr());
  if (number == -1.0 && PyErr_Occurred() != nullptr) throw nb::python_error();
  return number;
}

class Event {
 public:
  Event(const std::string& name, const std::string& types)
      : types_(types), id_(api.define_event(name.c_str(), types.c_str())) {
    if (types.size() > TARE_MAX_PARAMETERS || types.find_first_not_of("bBhHiIqQfd") != std::string::npos)
      throw nb::value_error("types: at most 10 letters of bBhHiIqQfd, as in struct");
  }

  void record(const nb::args& values) const {
    if (values.size() != types_.size())
      throw nb::type_error(("the event has " + std::to_string(types_.size()) + " parameters").c_str());
    Words words;
    for (std::size_t i = 0; i < types_.size(); ++i) words[i] = word(values[i], types_[i]);
    api.record(id_, words.data(), static_cast<unsigned>(types_.size()));
  }

 private:
  static std::uint64_t word(nb::handle value, char type) {
    if (type == 'd') return tare_word_of_double(real(value));
    if (type == 'f') return tare_word_of_float(static_cast<float>(real(value)));
    return integer_word(value);
  }

  std::string types_;
  tare_id id_;
};

class Packed {
 public:
  explicit Packed(const std::string& name) : id_(api.define_packed(name.c_str())) {}

  void record(const nb::args& values) const {
    if (values.size() > TARE_MAX_PARAMETERS) throw nb::type_error("an event has at most 10 parameters");
    Words words;
    for (std::size_t i = 0; i < values.size(); ++i) words[i] = integer_word(values[i]);
    api.record(id_, words.data(), static_cast<unsigned>(values.size()));
  }

 private:
  tare_id id_;
};

class Raw {
 public:
  explicit Raw(const std::string& name) : id_(api.define_raw(name.c_str())) {}

  void record(nb::handle value) const {
    if (PyUnicode_Check(value.ptr()) != 0) {
      // Surrogates represent bytes that are not text.
      const nb::object bytes = nb::steal(PyUnicode_AsEncodedString(value.ptr(), "utf-8", "surrogatepass"));
      if (!bytes.is_valid()) throw nb::python_error();
      return api.record_raw(id_, PyBytes_AsString(bytes.ptr()), static_cast<std::size_t>(PyBytes_Size(bytes.ptr())));
    }
    Py_buffer view;
    if (PyObject_GetBuffer(value.ptr(), &view, PyBUF_SIMPLE) != 0) throw nb::python_error();
    api.record_raw(id_, view.buf, static_cast<std::size_t>(view.len));
    PyBuffer_Release(&view);
  }

 private:
  tare_id id_;
};

}  // namespace
}  // namespace tare::bindings

NB_MODULE(_record, module) {
  using namespace tare::bindings;
  module.doc() = "The recorder's API for programs; load() comes first.";
  module.def("load", &load, "path"_a, "Finds the recorder of this process; else loads the one at `path`.");
  module.def("start", &start, "path"_a.none(), "Begins a run; OSError if its directory cannot be made.");
  module.def("pause", [] { api.pause(); });
  module.def("resume", [] { api.resume(); });
  module.def("flush", [] { api.flush(); });
  module.def("progress", [] { api.progress(); });
  module.def("offload", [] { api.offload(); });
  module.def(
      "sweet_spot",
      [](std::uint32_t events) {
        tare_sweet_spot spot;
        api.find_sweet_spot(events, &spot);
        return std::make_tuple(spot.events, spot.source, spot.is_bound != 0, spot.boi, spot.boi_spread,
                               spot.resting_delay, spot.resting_delay_deviation, spot.delay, spot.delay_deviation,
                               spot.direct_cost, spot.direct_cost_deviation, spot.overall_cost,
                               spot.overall_cost_deviation);
      },
      "events"_a, "The members of a tare_sweet_spot.");
  const auto control = [] {
    tare_control_message message;
    const bool is_there = api.control(&message) != 0;
    nb::object value = nb::none();
    if (message.type == TARE_CONTROL_INTEGER) value = nb::int_(message.integer);
    if (message.type == TARE_CONTROL_REAL) value = nb::float_(message.real);
    if (message.type == TARE_CONTROL_TEXT)
      value = nb::bytes(message.text, ::strnlen(message.text, sizeof message.text)).attr("decode")("utf-8", "replace");
    return std::make_tuple(is_there, std::string(message.name), value, message.lost);
  };
  module.def("control", control, nb::sig("def control() -> tuple[bool, str, int | float | str, int]"),
             "Whether there is a message; its name and value, and how many were lost.");
  module.def(
      "sample", [](const std::string& spec) { return api.sample(spec.c_str()) == 0; }, "spec"_a);
  module.def("recording", [] { return api.recording() != 0; });

  nb::class_<Region>(module, "Region")
      .def(nb::init<const std::string&>(), "name"_a)
      .def("__enter__", &Region::enter)
      .def("__exit__", &Region::leave, nb::arg().none(), nb::arg().none(), nb::arg().none());
  nb::class_<Phase>(module, "Phase")
      .def(nb::init<const std::string&>(), "name"_a)
      .def("begin", &Phase::begin)
      .def("end", &Phase::end)
      .def("__enter__", &Phase::begin)
      .def("__exit__", &Phase::leave, nb::arg().none(), nb::arg().none(), nb::arg().none());
  nb::class_<Counter>(module, "Counter")
      .def(nb::init<const std::string&, const std::string&>(), "name"_a, "unit"_a)
      .def("set", &Counter::set, "value"_a);
  nb::class_<Marker>(module, "Marker").def(nb::init<const std::string&>(), "name"_a).def("mark", &Marker::mark);
  nb::class_<Event>(module, "Event")
      .def(nb::init<const std::string&, const std::string&>(), "name"_a, "types"_a)
      .def("__call__", &Event::record,
           nb::sig("def __call__(self, *values: typing.SupportsIndex | typing.SupportsFloat) -> None"));
  nb::class_<Packed>(module, "Packed")
      .def(nb::init<const std::string&>(), "name"_a)
      .def("__call__", &Packed::record, nb::sig("def __call__(self, *values: typing.SupportsIndex) -> None"));
  nb::class_<Raw>(module, "Raw").def(nb::init<const std::string&>(), "name"_a).def("__call__", &Raw::record, "value"_a);
}
