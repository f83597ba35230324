#include "bindings/arrow_stream.h"

#include <memory>
#include <utility>

namespace tare::bindings {
namespace {

namespace nb = nanobind;

// The names of capsules, by what they hold.
template <class Held>
constexpr const char* name_of = nullptr;
template <>
constexpr const char* name_of<ArrowArrayStream> = "arrow_array_stream";
template <>
constexpr const char* name_of<ArrowSchema> = "arrow_schema";

template <class Held>
void release(PyObject* capsule) {
  auto* held = static_cast<Held*>(PyCapsule_GetPointer(capsule, name_of<Held>));
  if (held->release != nullptr) held->release(held);
  delete held;
}

// A capsule that owns it.
template <class Held>
nb::object capsule_of(std::unique_ptr<Held> held) {
  nb::object capsule = nb::steal(PyCapsule_New(held.get(), name_of<Held>, release<Held>));
  if (!capsule.is_valid()) {
    held->release(held.get());
    throw nb::python_error();
  }
  static_cast<void>(held.release());
  return capsule;
}

}  // namespace

nb::object arrow_stream(reader::arrow::Schema schema, reader::arrow::Next next) {
  auto stream = std::make_unique<ArrowArrayStream>();
  reader::arrow::export_stream(std::move(schema), std::move(next), *stream);
  return capsule_of(std::move(stream));
}

nb::object arrow_schema(reader::arrow::Schema schema) {
  auto exported = std::make_unique<ArrowSchema>();
  reader::arrow::export_schema(std::move(schema), *exported);
  return capsule_of(std::move(exported));
}

}  // namespace tare::bindings
