// The numbers of functions in records, rows and counters. Each source of events has a range of numbers, one behind the
// other: MPI from 1 on, in the order of the names. Their table (mpi/functions.toml) says what they mean. A run
// directory contains sources and names (chunk type `functions`), because the numbers change when a source gets new
// functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tare::format {

enum class Function : std::uint16_t {
  none,
#define TARE_FUNCTION(name, counted) name,
#include "functions.inc"
#undef TARE_FUNCTION
#define TARE_SOURCE_FUNCTION(name, arguments) name,
#include "source_functions.inc"
#undef TARE_SOURCE_FUNCTION
};

inline constexpr unsigned mpi_function_count = 0
#define TARE_FUNCTION(name, counted) +1
#include "functions.inc"
#undef TARE_FUNCTION
    ;
// Of all sources.
inline constexpr unsigned function_count = mpi_function_count
#define TARE_SOURCE_FUNCTION(name, arguments) +1
#include "source_functions.inc"
#undef TARE_SOURCE_FUNCTION
    ;

// "MPI_Send"; "" for numbers outside 1 .. function_count.
const char* function_name(unsigned number) noexcept;

// The number of "MPI_Send"; 0 if there is no such function.
unsigned function_number(const char* name) noexcept;

// A source of events: what one folder of src/ intercepts.
struct Source {
  const char* name;     // "MPI"
  std::uint16_t first;  // number of its first function
  std::uint16_t functions;
};
// In the order of their numbers, MPI first.
std::span<const Source> sources() noexcept;

// Whether the number is that of a function of the source of this name.
bool is_of_source(unsigned number, const char* name) noexcept;

// The payload of the functions chunk: for each source a u32, the number of its functions; its name; and for each
// function its name and the names of its arguments, with commas between them. Each text is ended by a zero byte.
std::size_t functions_bytes() noexcept;
void put_functions(char* out) noexcept;

// Whether the function only looks something up, and is counted instead of timed unless the user asks.
bool is_lookup(unsigned number) noexcept;

}  // namespace tare::format
