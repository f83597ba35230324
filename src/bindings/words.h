// Enumerations that are words in Python and in JSON.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace nanobind::detail {

// A text as an argument of a template.
template <std::size_t size>
struct Word {
  char bytes[size];
  // NOLINTNEXTLINE(google-explicit-constructor)
  consteval Word(const char (&text)[size]) { std::copy_n(text, size, bytes); }
};

// The base of the type_caster of an enumeration. The words are those of its values, from 0; a file may have larger
// values, which have the last word.
template <typename Enum, Word... words>
struct WordCaster {
  NB_TYPE_CASTER(Enum, const_name("typing.Literal[") +
                           concat((const_name("'") + const_name(words.bytes) + const_name("'"))...) + const_name("]"))

  static constexpr std::string_view texts[] = {words.bytes...};

  bool from_python(handle source, std::uint32_t, cleanup_list*) noexcept {
    const char* given = PyUnicode_Check(source.ptr()) ? PyUnicode_AsUTF8AndSize(source.ptr(), nullptr) : nullptr;
    if (given == nullptr) return false;
    const auto found = std::ranges::find(texts, std::string_view(given));
    value = static_cast<Enum>(found - std::begin(texts));
    return found != std::end(texts);
  }

  static handle from_cpp(Enum value, rv_policy, cleanup_list*) noexcept {
    return PyUnicode_InternFromString(texts[std::min(static_cast<std::size_t>(value), std::size(texts) - 1)].data());
  }
};

}  // namespace nanobind::detail
