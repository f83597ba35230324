// Lines of source to code, for Python (LineCode in _native.pyi).
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>

namespace tare::bindings {

nanobind::dict code_of_line(const std::string& object, const std::string& file, std::uint32_t line);

}  // namespace tare::bindings
