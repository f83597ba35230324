// Classes of Python that are made of structs of the reader, with one line for each field.
//
// Objects are read-only. A class is also made by its fields as keywords, so that tests need no run; fields that are not
// given have the values of an empty struct. `__match_args__` has the names of the fields, in the order in which JSON
// has them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "bindings/convert.h"
#include "bindings/text.h"

namespace tare::bindings {

// "Name(field=value, ...)"
nb::str described(nb::handle object);

// A member of a struct, of a struct that it holds, and so on.
template <typename Of, typename First, typename... Rest>
auto& member(Of& of, First first, Rest... rest) {
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
  Fields(nb::module_& module, const char* name, const char* doc)
      : class_(module, name, doc), setters_(std::make_shared<Setters>()) {
    class_.def(
        "__init__", [setters = setters_](T* self, const nb::kwargs& given) { new (self) T(made(*setters, given)); },
        nb::sig("def __init__(self, **fields: typing.Any) -> None"));
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

  // The member at the end of the path, which is a type that Python knows, or an array of char with a text.
  template <typename... Path>
  Fields& field(const char* name, Path... path) {
    using Member = std::remove_reference_t<decltype(member(std::declval<T&>(), path...))>;
    if constexpr (std::is_array_v<Member>)
      return value(
          name, [path...](const T& of) { return std::string(member(of, path...)); },
          [path...](T& of, const std::string& given) {
            std::snprintf(member(of, path...), sizeof(Member), "%s", given.c_str());
          });
    else
      return value(
          name, [path...](const T& of) -> const Member& { return member(of, path...); },
          [path...](T& of, Member given) { member(of, path...) = std::move(given); });
  }

  // The same; None if it has the value `none`.
  template <typename None, typename... Path>
  Fields& unless(const char* name, const None& none, Path... path) {
    using Member = std::remove_reference_t<decltype(member(std::declval<T&>(), path...))>;
    using Known = std::optional<Member>;
    return value(
        name,
        [none, path...](const T& of) {
          const Member& found = member(of, path...);
          return found == none ? Known() : Known(found);
        },
        [none, path...](T& of, Known given) { member(of, path...) = given ? std::move(*given) : Member(none); });
  }

  // Whether a bit of the member is set.
  template <typename Bit, typename... Path>
  Fields& flag(const char* name, Bit bit, Path... path) {
    using Member = std::remove_reference_t<decltype(member(std::declval<T&>(), path...))>;
    return value(
        name, [bit, path...](const T& of) { return (member(of, path...) & bit) != 0; },
        [bit, path...](T& of, bool given) {
          Member& flags = member(of, path...);
          flags = static_cast<Member>(given ? flags | bit : flags & ~static_cast<Member>(bit));
        });
  }

  // What is computed of an object, and how it becomes part of one.
  template <typename Get, typename Set>
  Fields& value(const char* name, Get get, Set set) {
    using Given = std::decay_t<typename Second<decltype(&Set::operator())>::type>;
    setters_->emplace_back(name, [set = std::move(set)](T& of, nb::handle given) { set(of, nb::cast<Given>(given)); });
    return computed(name, std::move(get));
  }

  // What is computed, and cannot be given.
  template <typename Get>
  Fields& computed(const char* name, Get get) {
    class_.def_prop_ro(name, std::move(get));
    names_.append(name);
    return *this;
  }

  nb::class_<T>& type() { return class_; }

 private:
  using Setters = std::vector<std::pair<const char*, std::function<void(T&, nb::handle)>>>;

  template <typename Method>
  struct Second;
  template <typename Of, typename First, typename Given>
  struct Second<void (Of::*)(First, Given) const> {
    using type = Given;
  };

  static T made(const Setters& setters, const nb::kwargs& given) {
    T of{};
    for (const auto& [key, value] : given) {
      const auto name = nb::cast<std::string>(key);
      const auto found = std::ranges::find_if(setters, [&](const auto& each) { return name == each.first; });
      if (found == setters.end()) throw nb::type_error(("there is no field " + name).c_str());
      found->second(of, value);
    }
    return of;
  }

  nb::class_<T> class_;
  nb::list names_;
  std::shared_ptr<Setters> setters_;
};

}  // namespace tare::bindings
