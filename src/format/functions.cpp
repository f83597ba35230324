#include "format/functions.h"

#include "format/segment.h"

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

bool is_lookup(unsigned number) noexcept { return number <= function_count && entries[number].lookup; }

}  // namespace tare::format
