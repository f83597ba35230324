// Names of functions as people say them.
#pragma once

#include <string>
#include <string_view>

namespace tare::reader {

// Of C++ without arguments, template arguments and the type of the result: "ns::Solver::step". As it is, where brackets
// do not match.
std::string short_name(std::string_view name);

// The same for "a (inlined in b)".
std::string short_name_with_inlined(std::string_view name);

}  // namespace tare::reader
