#include "bindings/convert.h"

#include "format/record.h"

namespace tare::bindings {

nb::object text(std::string_view bytes) {
  return nb::steal(PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "surrogateescape"));
}

nb::object text_or_none(const std::string& bytes) { return bytes.empty() ? nb::none() : text(bytes); }

nb::object escaped_text(std::string_view bytes) {
  return nb::steal(PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "backslashreplace"));
}

nb::object number_or_none(std::int32_t number) {
  static_assert(format::no_peer == format::no_tag);
  return number == format::no_peer ? nb::none() : nb::object(nb::int_(number));
}

std::vector<nb::object> function_texts(const reader::FunctionNames& names) {
  std::vector<nb::object> texts;
  for (const std::string& name : names.names()) texts.push_back(text(name));
  return texts;
}

}  // namespace tare::bindings
