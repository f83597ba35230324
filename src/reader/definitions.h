// The definition log of one process, as tables: what the numbers in its records and rows mean.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

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

struct Definitions {
  std::unordered_map<std::uint32_t, Module> modules;
  std::unordered_map<std::uint32_t, Site> sites;
  std::unordered_map<std::uint32_t, Communicator> communicators;

  // Applies entries of the log in order; the same entries may come again. Unknown kinds are stepped over.
  // False if an entry is malformed; those before it have been applied.
  bool apply(std::string_view log);
};

}  // namespace tare::reader
