#include "mpi/interposition/tool.h"

#include <atomic>
#include <cstdio>

#include "recorder/system.h"
#include "recorder/warning.h"

extern "C" {
constinit void* tare_tools[tare::format::mpi_function_count + 1] = {};
constinit void* tare_profiling_wrappers[tare::format::mpi_function_count + 1] = {};

// The number of the function that this thread is calling by PMPI_X; 0 from when that is known below the wrapper.
[[gnu::visibility("hidden")]] constinit thread_local std::uint32_t tare_profiling_call
    [[gnu::tls_model("initial-exec")]] = 0;
// How often this thread's call of a tool's function has led to further ones, none of which has returned.
[[gnu::visibility("hidden")]] constinit thread_local std::uint32_t tare_tool_depth [[gnu::tls_model("initial-exec")]] =
    0;
}

namespace tare::mpi {
namespace {

// More than a tool needs that calls its own functions by their public names, less than a small stack holds.
constexpr std::uint32_t max_depth = 200;

// Where the last of them was called from.
constinit thread_local std::uintptr_t deepest = 0;

constinit std::atomic<bool> has_said{false};

}  // namespace

bool is_dispatched_to(unsigned number, bool profiling, const void* address) noexcept {
  if (missing[number]) return false;
  return (profiling ? tare_library[number] : has_tool(number) ? tare_tools[number] : below_table[number]) == address;
}

bool runs_away(unsigned number, std::uintptr_t stack, bool by_jump) noexcept {
  if (tare_tool_depth == 0 || stack > deepest)
    tare_tool_depth = 1;
  else if (stack < deepest || by_jump)
    ++tare_tool_depth;
  deepest = stack;
  if (tare_tool_depth < max_depth) return false;
  if (has_said.exchange(true, std::memory_order_relaxed)) return true;
  const recorder::ErrnoGuard guard;
  char text[256];
  std::snprintf(text, sizeof text,
                "%s of another tool in this program leads to %s again without end; such calls go to the MPI library "
                "directly from now on",
                format::function_name(number), format::function_name(number));
  recorder::warn(text);
  return true;
}

}  // namespace tare::mpi
