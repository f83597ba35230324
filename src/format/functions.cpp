#include "format/functions.h"

#include <cstring>

#include "format/location_block.h"

namespace tare::format {
namespace {

struct Entry {
  const char* name;
  bool lookup;
};

constexpr Entry entries[] = {
    {"", false},
#define TARE_FUNCTION(name, counted) {#name, counted},
#include "functions.inc"
#undef TARE_FUNCTION
};

}  // namespace

static_assert(function_count < max_functions, "segments have no counter for the last functions");

const char* function_name(unsigned number) noexcept { return number <= function_count ? entries[number].name : ""; }

unsigned function_number(const char* name) noexcept {
  if (std::strncmp(name, "MPI_", 4) != 0) return 0;
  unsigned low = 1;
  unsigned high = function_count;
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

bool is_lookup(unsigned number) noexcept { return number <= function_count && entries[number].lookup; }

}  // namespace tare::format
