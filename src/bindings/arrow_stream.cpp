#include "bindings/arrow_stream.h"

#include <memory>
#include <utility>

namespace tare::bindings {
namespace {

namespace nb = nanobind;

constexpr const char* stream_name = "arrow_array_stream";  // of capsules

void release_stream(PyObject* capsule) {
  auto* stream = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule, stream_name));
  if (stream->release != nullptr) stream->release(stream);
  delete stream;
}

}  // namespace

nb::object arrow_stream(reader::arrow::Schema schema, reader::arrow::Next next) {
  auto stream = std::make_unique<ArrowArrayStream>();
  reader::arrow::export_stream(std::move(schema), std::move(next), *stream);
  nb::object capsule = nb::steal(PyCapsule_New(stream.get(), stream_name, release_stream));
  if (!capsule.is_valid()) {
    stream->release(stream.get());
    throw nb::python_error();
  }
  static_cast<void>(stream.release());  // the capsule owns it
  return capsule;
}

}  // namespace tare::bindings
