// What all rows for Python are made of.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reader/result.h"
#include "reader/store/function_names.h"

namespace tare::bindings {

namespace nb = nanobind;

// Becomes tare._native.Error.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <typename T>
T unwrap(reader::Result<T> result) {
  if (!result) throw Error(result.error());
  return std::move(*result);
}

// Paths and names are bytes to the system: what is no UTF-8 comes out as Python's os.fsdecode has it.
nb::object text(std::string_view bytes);
nb::object text_or_none(const std::string& bytes);
// What a program wrote: nearly always text.
nb::object escaped_text(std::string_view bytes);

// None for a peer or tag that there is not.
nb::object number_or_none(std::int32_t number);

// One Python string for each function, made once.
std::vector<nb::object> function_texts(const reader::FunctionNames& names);

}  // namespace tare::bindings
