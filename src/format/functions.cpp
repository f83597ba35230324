#include "format/functions.h"

#include <cstring>

namespace tare::format {
namespace {

struct Entry {
  const char* name;
  const char* arguments;  // that records have beside their fields: of functions of MPI none
  bool lookup;
};

constexpr Entry entries[] = {
    {"", "", false},
#define TARE_FUNCTION(name, counted) {#name, "", counted},
#include "functions.inc"
#undef TARE_FUNCTION
#define TARE_SOURCE_FUNCTION(name, arguments) {#name, arguments, false},
#include "source_functions.inc"
#undef TARE_SOURCE_FUNCTION
};

constexpr Source all_sources[] = {
#define TARE_SOURCE(name, first, functions) {name, first, functions},
#include "sources.inc"
#undef TARE_SOURCE
};

// Calls visit(text) for the texts of a function.
template <class Visit>
void each_text(const Entry& of, Visit visit) noexcept {
  visit(of.name);
  visit(of.arguments);
}

}  // namespace

const char* function_name(unsigned number) noexcept { return number <= function_count ? entries[number].name : ""; }

unsigned function_number(const char* name) noexcept {
  if (std::strncmp(name, "MPI_", 4) != 0) return 0;
  unsigned low = 1;
  unsigned high = mpi_function_count;
  while (low <= high) {  // functions are in the order of their names
    const unsigned middle = (low + high) / 2;
    const int order = std::strcmp(name, entries[middle].name);
    if (order == 0) return middle;
    if (order < 0)
      high = middle - 1;
    else
      low = middle + 1;
  }
  return 0;
}

std::span<const Source> sources() noexcept { return all_sources; }

bool is_of_source(unsigned number, const char* name) noexcept {
  for (const Source& source : all_sources)
    if (number - source.first < source.functions) return std::strcmp(source.name, name) == 0;
  return false;
}

std::size_t functions_bytes() noexcept {
  std::size_t bytes = 0;
  const auto add = [&](const char* text) { bytes += std::strlen(text) + 1; };
  for (const Source& source : all_sources) {
    bytes += sizeof(std::uint32_t);
    add(source.name);
    for (unsigned i = 0; i < source.functions; ++i) each_text(entries[source.first + i], add);
  }
  return bytes;
}

void put_functions(char* out) noexcept {
  const auto put = [&](const char* text) {
    const std::size_t bytes = std::strlen(text) + 1;
    std::memcpy(out, text, bytes);
    out += bytes;
  };
  for (const Source& source : all_sources) {
    const std::uint32_t functions = source.functions;
    std::memcpy(out, &functions, sizeof functions);
    out += sizeof functions;
    put(source.name);
    for (unsigned i = 0; i < source.functions; ++i) each_text(entries[source.first + i], put);
  }
}

bool is_lookup(unsigned number) noexcept { return number <= function_count && entries[number].lookup; }

}  // namespace tare::format
