// Text between Python and C++, instead of <nanobind/stl/string.h>: names and messages are bytes for the system. Bytes
// that are not UTF-8 become surrogate escapes in Python, and are restored.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <utility>

namespace tare::bindings {

// Text that a program wrote; nearly always UTF-8.
struct ShownText {
  std::string bytes;
};

}  // namespace tare::bindings

namespace nanobind::detail {

template <>
struct type_caster<std::string> {
  NB_TYPE_CASTER(std::string, const_name("str"))

  bool from_python(handle source, std::uint32_t, cleanup_list*) noexcept {
    if (!PyUnicode_Check(source.ptr())) return false;
    PyObject* bytes = PyUnicode_AsEncodedString(source.ptr(), "utf-8", "surrogateescape");
    if (bytes == nullptr) {
      PyErr_Clear();
      return false;
    }
    value.assign(PyBytes_AsString(bytes), static_cast<std::size_t>(PyBytes_Size(bytes)));
    Py_DECREF(bytes);
    return true;
  }

  static handle from_cpp(const std::string& value, rv_policy, cleanup_list*) noexcept {
    return PyUnicode_DecodeUTF8(value.data(), static_cast<Py_ssize_t>(value.size()), "surrogateescape");
  }
};

// Bytes that are not UTF-8 become escapes: a text that is shown, and names nothing.
template <>
struct type_caster<tare::bindings::ShownText> {
  NB_TYPE_CASTER(tare::bindings::ShownText, const_name("str"))

  bool from_python(handle source, std::uint32_t flags, cleanup_list* cleanup) noexcept {
    type_caster<std::string> text;
    if (!text.from_python(source, flags, cleanup)) return false;
    value.bytes = std::move(text.value);
    return true;
  }

  static handle from_cpp(const tare::bindings::ShownText& shown, rv_policy, cleanup_list*) noexcept {
    const std::string& bytes = shown.bytes;
    return PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "backslashreplace");
  }
};

}  // namespace nanobind::detail
