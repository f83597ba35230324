// Classes of Python that are made of structs of the reader: their fields are members of the struct.
//
// Objects are read-only. A class can be called without arguments, for the values of an empty struct.
// `__match_args__` has the names of the fields, in the order in which JSON has them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "bindings/convert.h"
#include "bindings/text.h"

namespace tare::bindings {

// "Name(field=value, ...)"
nb::str described(nb::handle object);

// The name of a pointer to a member, as the compiler writes it.
template <auto pointer>
std::string name_of() {
  const std::string_view text = __PRETTY_FUNCTION__;  // "... [with auto pointer = &Struct::name; ...]"
  const std::string_view path = text.substr(0, text.find_first_of(";]", text.find("pointer = ")));
  return std::string(path.substr(path.rfind(':') + 1));
}

// A member of a struct, of a struct that it holds, and so on.
template <typename Of, typename First, typename... Rest>
const auto& member(const Of& of, First first, Rest... rest) {
  if constexpr (sizeof...(rest) == 0)
    return of.*first;
  else if constexpr (requires { *(of.*first); })
    return member(*(of.*first), rest...);
  else
    return member(of.*first, rest...);
}

template <typename T>
class Fields {
 public:
  Fields(nb::module_& module, const char* name, const char* doc) : class_(module, name, doc) {
    class_.def("__init__", [](T* self) { new (self) T{}; });
    class_.def("__repr__", described);
  }
  Fields(Fields&&) noexcept = default;
  Fields(const Fields&) = delete;
  Fields& operator=(const Fields&) = delete;
  Fields& operator=(Fields&&) = delete;
  // It can only fail for want of memory while the module is made.
  ~Fields() {  // NOLINT(bugprone-exception-escape)
    if (names_.is_valid()) class_.attr("__match_args__") = nb::tuple(names_);
  }

  // Members of the struct at the end of the path, or of T itself, by their own names.
  template <auto... pointers, typename... Path>
  Fields& members(Path... path) {
    (field(name_of<pointers>().c_str(), path..., pointers), ...);
    return *this;
  }

  // The member at the end of the path, which is a type that Python knows, or an array of char with a text.
  template <typename... Path>
  Fields& field(const char* name, Path... path) {
    using Member = std::remove_cvref_t<decltype(member(std::declval<const T&>(), path...))>;
    if constexpr (std::is_array_v<Member>)
      return value(name, [path...](const T& of) { return std::string(member(of, path...)); });
    else
      return value(name, [path...](const T& of) -> const Member& { return member(of, path...); });
  }

  // The same; None if it has the value `none`.
  template <typename None, typename... Path>
  Fields& unless(const char* name, const None& none, Path... path) {
    using Member = std::remove_cvref_t<decltype(member(std::declval<const T&>(), path...))>;
    return value(name, [none, path...](const T& of) {
      const Member& found = member(of, path...);
      return found == none ? std::optional<Member>() : std::optional(found);
    });
  }

  // Whether a bit of the member is set.
  template <typename Bit, typename... Path>
  Fields& flag(const char* name, Bit bit, Path... path) {
    return value(name, [bit, path...](const T& of) { return (member(of, path...) & bit) != 0; });
  }

  // What is computed of an object.
  template <typename Get>
  Fields& value(const char* name, Get get) {
    class_.def_prop_ro(name, std::move(get));
    names_.append(name);
    return *this;
  }

 private:
  nb::class_<T> class_;
  nb::list names_;
};

}  // namespace tare::bindings
