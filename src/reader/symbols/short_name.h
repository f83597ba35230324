// Short names of functions, for tables and pictures.
#pragma once

#include <string>
#include <string_view>

namespace tare::reader {

// The name of a C++ function without arguments, template arguments and return type: "ns::Solver::step". The unchanged
// name if its brackets do not match.
std::string short_name(std::string_view name);

// The same for a name of the form "a (inlined in b)": both functions are shortened.
std::string short_name_with_inlined(std::string_view name);

}  // namespace tare::reader
