#include "bindings/convert.h"

namespace tare::bindings {

nb::object text(std::string_view bytes) {
  return nb::steal(PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "surrogateescape"));
}

nb::object escaped_text(std::string_view bytes) {
  return nb::steal(PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "backslashreplace"));
}

std::vector<nb::object> function_texts(const reader::FunctionNames& names) {
  std::vector<nb::object> texts;
  for (const std::string& name : names.names()) texts.push_back(text(name));
  return texts;
}

}  // namespace tare::bindings
