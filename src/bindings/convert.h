// What all conversions to Python have in common.
#pragma once

#include <nanobind/nanobind.h>

#include <stdexcept>
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

// Paths and names are bytes for the system. Bytes that are not UTF-8 are decoded as by Python's os.fsdecode.
nb::object text(std::string_view bytes);
// Text that a program wrote; nearly always UTF-8.
nb::object escaped_text(std::string_view bytes);

// One Python string for each function, made once.
std::vector<nb::object> function_texts(const reader::FunctionNames& names);

}  // namespace tare::bindings
