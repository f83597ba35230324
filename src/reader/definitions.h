// The definition log of one process, as tables: what the numbers in its records and rows mean.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "format/definition.h"

namespace tare::reader {

struct Module {
  std::string path;
  std::string build_id;  // bytes
};

struct Site {
  std::uint32_t module = format::no_module;  // native
  std::uint64_t address = 0;                 // return address
  bool python = false;
  std::uint32_t line = 0;  // Python, as the strings
  std::string file;
  std::string function;
};

struct Communicator {
  std::string name;
  std::int32_t size = 0;
};

// What the events of one type mean.
struct EventType {
  format::EventClass event_class = format::EventClass::regular;
  std::string name, unit;
  std::vector<format::ParameterType> parameters;

  auto operator<=>(const EventType&) const = default;
};

struct Definitions {
  std::unordered_map<std::uint32_t, Module> modules;
  std::unordered_map<std::uint32_t, Site> sites;
  std::unordered_map<std::uint32_t, Communicator> communicators;
  std::unordered_map<std::uint32_t, EventType> event_types;

  // Applies entries of the log in order; the same entries may come again. Unknown kinds are stepped over.
  // False if an entry is malformed; those before it have been applied.
  bool apply(std::string_view log);
};

}  // namespace tare::reader
