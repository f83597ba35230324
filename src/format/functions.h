// The numbers of MPI functions in records, rows and counters: 1 .. function_count, in the order of the names. A run
// directory contains the names (chunk type `functions`), because the numbers change when the standard gets new
// functions.
#pragma once

#include <cstdint>

namespace tare::format {

enum class Function : std::uint16_t {
  none,
#define TARE_FUNCTION(name, counted) name,
#include "functions.inc"
#undef TARE_FUNCTION
};

inline constexpr unsigned function_count = 0
#define TARE_FUNCTION(name, counted) +1
#include "functions.inc"
#undef TARE_FUNCTION
    ;

// "MPI_Send"; "" for numbers outside 1 .. function_count.
const char* function_name(unsigned number) noexcept;

// The number of "MPI_Send"; 0 if there is no such function.
unsigned function_number(const char* name) noexcept;

// Whether the function only looks something up, and is counted instead of timed unless the user asks.
bool is_lookup(unsigned number) noexcept;

}  // namespace tare::format
